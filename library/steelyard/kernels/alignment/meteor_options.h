/* The choices that are left to one module of Meteor, cut down to those that could still improve on a first guess.
 *
 * Each word of the smaller side of a complete component must be linked, in order; in another component each word of
 * the hypothesis may also stay without a link, as often as its slack allows.
 */
#ifndef METEOR_OPTIONS_H
#define METEOR_OPTIONS_H

#include "meteor_components.h"

typedef struct {
    int32_t words[2]; /* the link; -1 and -1 for none */
    int64_t cost;     /* beside all links that are settled */
    int64_t least;    /* the same, and side by side with whatever link may come before it */
} Option;

typedef struct {
    int32_t first, count; /* its options */
    int32_t component;
    int32_t present, best; /* its options in the first guess and in the best linking so far */
} Choice;

typedef struct {
    Option *options;
    Choice *choices;
    int64_t *costs; /* of the options of one choice */
    int32_t option_count, choice_count;
    int64_t room; /* for so many options there is memory; for choices and costs there always is */
} Choices;

static inline int64_t sum_of(int64_t one, int64_t other) {
    return one >= IMPOSSIBLE || other >= IMPOSSIBLE ? IMPOSSIBLE : one + other;
}

/* What links of two choices cost together. */
static inline int64_t both_cost(const Pair *pair, const Choice *one, const Option *a, const Choice *other,
                                const Option *b) {
    if (a->words[0] < 0 || b->words[0] < 0) return 0;
    int32_t i = b->words[0] - a->words[0], j = b->words[1] - a->words[1];
    int crosses = (i < 0) != (j < 0);
    if (one->component == other->component && (!i || !j || (crosses && pair->components[one->component].complete)))
        return IMPOSSIBLE;
    return crosses * CROSS - (i == j && (i == 1 || i == -1));
}

/* Adds a choice: `word` of `side` with each of `others`, or nothing. */
static void add_choice(const Pair *pair, int32_t component, int side, int32_t word, const int32_t *others,
                       int32_t count, Choices *all) {
    const Component *c = pair->components + component;
    Choice *choice = all->choices + all->choice_count++;
    Option *option = all->options + all->option_count;
    *choice = (Choice){all->option_count, count + (c->slack > 0), component, -1, -1};
    all->option_count += choice->count;
    link_costs(pair, side, word, others, count, all->costs);
    for (int32_t k = 0; k < count; k++, option++) {
        option->words[side] = word;
        option->words[1 - side] = others[k];
        int32_t i = option->words[0] - 1, j = option->words[1] - 1;
        int64_t before =
            i >= 0 && j >= 0 && pair->component[0][i] >= 0 && pair->component[0][i] == pair->component[1][j];
        option->cost = all->costs[k];
        option->least = all->costs[k] - before;
    }
    if (c->slack > 0) *option = (Option){{-1, -1}, 0, 0};
}

/*
 * All choices with all options, while no word of an open component is linked. Returns 0 where the steps do not
 * suffice, -1 without memory, else 1.
 */
static int list_choices(Pair *pair, const Edges *edges, Choices *all) {
    int64_t size = 0;
    all->option_count = all->choice_count = 0;
    for (int32_t k = 0; k < pair->count; k++) {
        const Component *c = pair->components + k;
        int small = c->complete && c->count[0] > c->count[1];
        size += c->count[small] * (int64_t)(c->complete ? c->count[1 - small] - c->count[small] + 1 : c->count[1] + 1);
        if (!afford(pair, c->count[small] * (int64_t)(pair->length[0] + pair->length[1]))) return 0;
    }
    if (size > MOST_CANDIDATES) return give_up(pair);
    if (!afford(pair, size)) return 0;
    if (size > all->room) {
        free(all->options);
        all->options = malloc((size_t)size * sizeof *all->options);
        all->room = all->options ? size : 0;
        if (!all->room) return -1;
    }
    for (int32_t k = 0; k < pair->count; k++) {
        const Component *c = pair->components + k;
        int small = c->complete && c->count[0] > c->count[1];
        const int32_t *own = pair->members[small] + c->first[small];
        const int32_t *others = pair->members[1 - small] + c->first[1 - small];
        for (int32_t w = 0; w < c->count[small]; w++) {
            if (c->complete) {
                add_choice(pair, k, small, own[w], others + w, c->count[1 - small] - c->count[small] + 1, all);
            } else {
                int32_t begin = edges->starts[own[w]];
                add_choice(pair, k, small, own[w], edges->words + begin, edges->starts[own[w] + 1] - begin, all);
            }
        }
    }
    return 1;
}

/* Marks the present links as the best so far. Returns what they cost. */
static int64_t mark_present(const Pair *pair, Choices *all) {
    int64_t cost = 0;
    for (int32_t v = 0; v < all->choice_count; v++) {
        Choice *choice = all->choices + v;
        for (int32_t o = choice->first; o < choice->first + choice->count; o++) {
            const int32_t *words = all->options[o].words;
            if (words[0] < 0 ? choice->present < 0 : pair->partner[0][words[0]] == words[1]) choice->present = o;
        }
        choice->best = choice->present;
        cost += all->options[choice->present].cost;
        for (int32_t w = 0; w < v; w++)
            cost += both_cost(pair, choice, all->options + choice->present, all->choices + w,
                              all->options + all->choices[w].present);
    }
    return cost;
}

/* The least that a choice can cost. */
static inline int64_t least_cost(const Choices *all, const Choice *choice) {
    int64_t least = IMPOSSIBLE;
    for (int32_t o = choice->first; o < choice->first + choice->count; o++)
        if (all->options[o].least < least) least = all->options[o].least;
    return least;
}

/* Takes a choice that is no longer one out of the list: what its link costs with others becomes theirs. */
static void settle_choice(Pair *pair, Choices *all, int32_t settled) {
    const Choice choice = all->choices[settled];
    const Option link = all->options[choice.present];
    if (link.words[0] < 0) pair->components[choice.component].slack--;
    all->choice_count--;
    for (int32_t v = settled; v < all->choice_count; v++) all->choices[v] = all->choices[v + 1];
    for (int32_t v = 0; v < all->choice_count; v++) {
        const Choice *other = all->choices + v;
        for (int32_t o = other->first; o < other->first + other->count; o++) {
            int64_t cost = both_cost(pair, &choice, &link, other, all->options + o);
            all->options[o].cost = sum_of(all->options[o].cost, cost);
            all->options[o].least = sum_of(all->options[o].least, cost);
        }
    }
}

/*
 * Leaves only choices with several options that a linking could have that costs less than the present one; what is
 * present stays an option, too.
 */
static void cut_choices(Pair *pair, Choices *all) {
    int64_t present = mark_present(pair, all);
    for (int changed = 1; changed;) {
        int64_t least = 0;
        changed = 0;
        for (int32_t v = 0; v < all->choice_count; v++) least += least_cost(all, all->choices + v);
        for (int32_t v = 0; v < all->choice_count; v++) {
            Choice *choice = all->choices + v;
            int64_t others = least - least_cost(all, choice);
            int32_t kept = choice->first, was = choice->present;
            for (int32_t o = choice->first; o < choice->first + choice->count; o++) {
                if (o != was && sum_of(others, all->options[o].least) >= present) continue;
                if (o == was) choice->present = choice->best = kept;
                all->options[kept++] = all->options[o];
            }
            choice->count = kept - choice->first;
        }
        for (int32_t v = all->choice_count - 1; v >= 0; v--) {
            if (all->choices[v].count > 1 || !afford(pair, all->option_count)) continue;
            present -= all->options[all->choices[v].present].cost;
            settle_choice(pair, all, v);
            changed = 1;
        }
    }
}
#endif
