/* The words of one hypothesis and one reference while they are being linked, and what links cost one another. */
#ifndef METEOR_LINKS_H
#define METEOR_LINKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HYPOTHESIS, REFERENCE };

/* Candidates for links that are held in memory at once; with more of them no search would end. */
enum { MOST_CANDIDATES = 1 << 20 };

/* One cross outweighs every chunk that a segment can have: costs are crosses * CROSS - pairs of links side by side. */
static const int64_t CROSS = (int64_t)1 << 20, IMPOSSIBLE = (int64_t)1 << 60;

/* Words that may be linked with one another, directly or through others; of no use to any other word. */
typedef struct {
    int32_t first[2], count[2]; /* where its words stand in `members`, in the order of the text */
    int32_t complete;           /* whether each word of one side may be linked with each of the other */
    int32_t slack;              /* words of the hypothesis that stay without a link, where it is not complete */
    int64_t cost;               /* of its links, when they were last chosen */
} Component;

typedef struct {
    int32_t length[2];
    int32_t *partner[2];   /* by word: the word linked with it, -1 for none */
    int32_t *component[2]; /* by word: the component whose links are still to be chosen, -1 for none */
    int32_t *members[2];
    Component *components;
    int32_t count;     /* components whose links are still to be chosen */
    int64_t steps;     /* of the search that are left for this module */
    int32_t limited;   /* whether they were too few */
} Pair;

static inline int give_up(Pair *pair) {
    pair->steps = -1;
    pair->limited = 1;
    return 0;
}

/* Whether `steps` more may be made; from the first time that they may not, never again. */
static inline int afford(Pair *pair, int64_t steps) {
    pair->steps -= steps;
    return pair->steps >= 0 ? 1 : give_up(pair);
}

static inline void set_link(Pair *pair, int side, int32_t word, int32_t other) {
    pair->partner[side][word] = other;
    pair->partner[1 - side][other] = word;
}

static inline void unlink_component(Pair *pair, const Component *c) {
    for (int side = 0; side < 2; side++)
        for (int32_t k = 0; k < c->count[side]; k++) pair->partner[side][pair->members[side][c->first[side] + k]] = -1;
}

/* Links the words of both sides in order, from the first of each on. */
static inline void link_in_order(Pair *pair, const Component *c) {
    int32_t count = c->count[0] < c->count[1] ? c->count[0] : c->count[1];
    for (int32_t k = 0; k < count; k++)
        set_link(pair, 0, pair->members[0][c->first[0] + k], pair->members[1][c->first[1] + k]);
}

static inline int side_by_side(const Pair *pair, int side, int32_t word, int32_t other) {
    const int32_t *partner = pair->partner[side];
    int before = word > 0 && other > 0 && partner[word - 1] == other - 1;
    int behind = word + 1 < pair->length[side] && partner[word + 1] == other + 1;
    return before + behind;
}

/*
 * What linking `word` of `side` with each of `others` (ascending) costs beside the links there are. Takes about
 * length[0] + length[1] steps.
 */
static inline void link_costs(const Pair *pair, int side, int32_t word, const int32_t *others, int32_t count,
                              int64_t *costs) {
    const int32_t *partner = pair->partner[side], *back = pair->partner[1 - side];
    int64_t crosses = 0;
    int32_t at = others[0];
    for (int32_t k = 0; k < word; k++) crosses += partner[k] > at;
    for (int32_t k = word + 1; k < pair->length[side]; k++) crosses += (uint32_t)partner[k] < (uint32_t)at;
    for (int32_t k = 0; k < count; k++) {
        /* A link that is passed on the way from one to the next changes the sides. */
        for (; at < others[k]; at++)
            if (back[at] >= 0) crosses += back[at] > word ? 1 : -1;
        /* `at` itself is free; those between were counted when they were reached, so this one must not be. */
        costs[k] = crosses * CROSS - side_by_side(pair, side, word, others[k]);
    }
}
#endif
