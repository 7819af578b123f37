/* A good linking to begin the search with: one component after the other, each in the best way beside the others. */
#ifndef METEOR_GUESS_H
#define METEOR_GUESS_H

#include "meteor_links.h"

enum { ROUNDS = 8 };

typedef struct {
    int64_t *costs; /* by word of the smaller side: of linking it with each word of the other that it can have */
    int32_t *from;  /* which one the word before has, in the best way to give it this one */
    int64_t room;   /* entries that there is memory for */
} Guess;

static int make_room(Guess *guess, int64_t size) {
    if (guess->room >= size) return 0;
    free(guess->costs);
    free(guess->from);
    guess->costs = malloc((size_t)size * sizeof *guess->costs);
    guess->from = malloc((size_t)size * sizeof *guess->from);
    guess->room = guess->costs && guess->from ? size : 0;
    return guess->room ? 0 : -1;
}

/*
 * Links a complete component in the cheapest way while all other links stay: in order, so that word k of the smaller
 * side has one of the words k to k + width - 1 of the other. Returns 1 where that cost changes, 0 where it does not
 * or the steps do not suffice, -1 without memory.
 */
static int relink(Pair *pair, Component *c, Guess *guess) {
    int small = c->count[0] > c->count[1], large = 1 - small;
    int32_t count = c->count[small], width = c->count[large] - count + 1, end = 0;
    const int32_t *own = pair->members[small] + c->first[small], *others = pair->members[large] + c->first[large];
    if (!afford(pair, count * (int64_t)(pair->length[0] + pair->length[1] + width))) return 0;
    if (make_room(guess, (int64_t)count * width)) return -1;
    unlink_component(pair, c);
    for (int32_t k = 0; k < count; k++) {
        int64_t *costs = guess->costs + (int64_t)k * width, *before = costs - width;
        int32_t *from = guess->from + (int64_t)k * width, best = 0;
        link_costs(pair, small, own[k], others + k, width, costs);
        for (int32_t t = 0; k && t < width; t++) {
            if (before[t] < before[best]) best = t;
            int touches = own[k] == own[k - 1] + 1 && others[k + t] == others[k + t - 1] + 1;
            from[t] = touches && before[t] == before[best] ? t : best;
            costs[t] += before[from[t]] - (touches && from[t] == t);
        }
    }
    const int64_t *ends = guess->costs + (int64_t)(count - 1) * width;
    for (int32_t t = 1; t < width; t++)
        if (ends[t] < ends[end]) end = t;
    int changed = c->cost != ends[end];
    c->cost = ends[end];
    for (int32_t k = count - 1; k >= 0; k--) {
        set_link(pair, small, own[k], others[k + end]);
        end = k ? guess->from[(int64_t)k * width + end] : 0;
    }
    return changed;
}

/* Links the complete components, then each again until nothing changes. Returns 0, or -1 without memory. */
static int guess_links(Pair *pair, Guess *guess) {
    for (int32_t k = 0; k < pair->count; k++)
        if (pair->components[k].complete) link_in_order(pair, pair->components + k);
    int changed = pair->count > 0;
    for (int32_t round = 0; changed && round < ROUNDS; round++) {
        changed = 0;
        for (int32_t k = 0; k < pair->count; k++) {
            int result = pair->components[k].complete ? relink(pair, pair->components + k, guess) : 0;
            if (result < 0) return -1;
            changed |= result;
        }
    }
    return 0;
}
#endif
