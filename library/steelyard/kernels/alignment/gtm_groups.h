/* The runs of GTM where there are too many to list: time and memory grow with n log n, whatever the words.
 *
 * One pass over the lengths, from the longest down. At length l every position is in a group with those that begin
 * the same l words (suffix_groups.h); groups only merge as l falls. A position is open while its next l words are
 * unused. The next run joins the last open position of the hypothesis whose group has an open one of the references.
 * Using it up closes fewer than l positions before it on either side, for a while, and the l positions in it for
 * ever; so all the openings and closings of a segment are no more than twice its words.
 */
#ifndef GTM_GROUPS_H
#define GTM_GROUPS_H

#include "gtm_budget.h"
#include "suffix_groups.h"

enum { HYPOTHESIS, REFERENCES };

typedef struct {
    uint8_t *used;             /* by position */
    uint8_t *open;             /* by position */
    uint8_t *queued;           /* by position: whether it is in its group's heap, open or not */
    int32_t *opening, *after;  /* by length: positions that open there; the next such one */
    int32_t *place, *parent;   /* of a position in the suffix array; union-find over those places */
    int32_t *tops[2];          /* by group: root of the heap of each side's positions, the largest on top; -1 */
    int32_t *child, *sibling;  /* by position: pairing heaps */
} Groups;

static inline int32_t group_of(const Groups *g, int32_t place) {
    while (g->parent[place] != place) place = g->parent[place] = g->parent[g->parent[place]];
    return place;
}

static inline int32_t meld(const Groups *g, int32_t a, int32_t b) {
    if (a < 0) return b;
    if (b < 0) return a;
    int32_t high = a > b ? a : b, low = a > b ? b : a;
    g->sibling[low] = g->child[high];
    g->child[high] = low;
    return high;
}

static inline int32_t without_top(const Groups *g, int32_t top) {
    int32_t list = -1, result = -1;
    for (int32_t at = g->child[top]; at >= 0;) {
        int32_t second = g->sibling[at], rest = second >= 0 ? g->sibling[second] : -1;
        int32_t pair = meld(g, at, second);
        g->sibling[pair] = list;
        list = pair;
        at = rest;
    }
    while (list >= 0) {
        int32_t rest = g->sibling[list];
        result = meld(g, result, list);
        list = rest;
    }
    return result;
}

/* The last open position of a group on one side, or -1. */
static inline int32_t last_open(const Groups *g, int32_t group, int side) {
    int32_t *top = &g->tops[side][group];
    while (*top >= 0 && !g->open[*top]) {
        g->queued[*top] = 0;
        *top = without_top(g, *top);
    }
    return *top;
}

static inline void open_at(const Groups *g, int32_t position, int32_t length) {
    g->after[position] = g->opening[length];
    g->opening[length] = position;
}

static inline void use(const Groups *g, int32_t begin, int32_t length) {
    memset(g->used + begin, 1, (size_t)length);
    memset(g->open + begin, 0, (size_t)length);
    for (int32_t i = begin - 1; i > begin - length && i >= 0 && !g->used[i]; i--) {
        g->open[i] = 0;
        open_at(g, i, begin - i);
    }
}

/* A binary heap of positions, the largest first; each group with open positions on both sides has one in it. */
static inline void waiting_push(int32_t *heap, int32_t *size, int32_t position) {
    int32_t at = (*size)++;
    for (; at > 0 && heap[(at - 1) / 2] < position; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = position;
}

static inline int32_t waiting_pop(int32_t *heap, int32_t *size) {
    int32_t top = heap[0], moved = heap[--*size], at = 0;
    for (int32_t next; (next = 2 * at + 1) < *size; at = next) {
        next += next + 1 < *size && heap[next + 1] > heap[next];
        if (heap[next] <= moved) break;
        heap[at] = heap[next];
    }
    heap[at] = moved;
    return top;
}

/*
 * text: the hypothesis, a 0, the references with a 0 after each; words are from 1 to symbols - 1.
 * Returns 0, or -1 without memory.
 */
static inline int64_t take_runs_by_groups(Budget *budget, const int32_t *text, int32_t hypothesis, int32_t size,
                                          int32_t symbols) {
    size_t n = (size_t)size;
    int64_t result = -1;
    int32_t *numbers = malloc((16 * n + (size_t)symbols + 2) * sizeof *numbers);
    uint8_t *flags = calloc(3 * n, 1);
    if (!numbers || !flags) goto done;
    int32_t *array = numbers, *common = array + n, *joining = common + n, *joined_after = joining + n + 1;
    int32_t *waiting = joined_after + n, *touched = waiting + 2 * n, *scratch = touched + 2 * n;
    Groups g = {.used = flags, .open = flags + n, .queued = flags + 2 * n};
    g.opening = scratch; /* the suffix array's scratch is free again by then */
    g.after = scratch + n + 1;
    g.place = scratch + 2 * n + (size_t)symbols + 1;
    g.parent = g.place + n;
    g.tops[HYPOTHESIS] = g.parent + n;
    g.tops[REFERENCES] = g.tops[HYPOTHESIS] + n;
    g.child = g.tops[REFERENCES] + n;
    g.sibling = g.child + n;
    suffix_array(text, size, symbols, array, g.place, common, scratch);

    int32_t longest[2] = {0, 0}, free_words = 0;
    for (int32_t i = size; i-- > 0;) {
        g.used[i] = text[i] == 0;
        free_words = g.used[i] ? 0 : free_words + 1;
        int32_t *most = &longest[i < hypothesis ? HYPOTHESIS : REFERENCES];
        if (free_words > *most) *most = free_words;
    }
    int32_t from = longest[0] < longest[1] ? longest[0] : longest[1];
    for (int32_t l = 0; l <= from; l++) joining[l] = g.opening[l] = -1;
    for (int32_t k = 0; k < size; k++) {
        int32_t l = common[k] < from ? common[k] : from;
        joined_after[k] = joining[l];
        joining[l] = k;
        g.parent[k] = k;
        g.tops[HYPOTHESIS][k] = g.tops[REFERENCES][k] = g.child[k] = g.sibling[k] = -1;
    }
    free_words = 0;
    for (int32_t i = size; i-- > 0;) {
        free_words = g.used[i] ? 0 : free_words + 1;
        if (free_words) open_at(&g, i, free_words < from ? free_words : from);
    }

    result = 0;
    for (int32_t l = from; l > 0; l--) {
        int32_t changed = 0, queue = 0;
        for (int32_t k = joining[l]; k >= 0; k = joined_after[k]) {
            int32_t into = group_of(&g, k - 1), other = group_of(&g, k);
            g.parent[other] = into;
            for (int side = 0; side < 2; side++)
                g.tops[side][into] = meld(&g, g.tops[side][into], g.tops[side][other]);
            touched[changed++] = into;
        }
        for (int32_t i = g.opening[l]; i >= 0; i = g.after[i]) {
            if (g.used[i]) continue; /* closed for ever since it was put here */
            int32_t group = group_of(&g, g.place[i]), *top = &g.tops[i < hypothesis ? HYPOTHESIS : REFERENCES][group];
            g.open[i] = 1;
            if (!g.queued[i]) {
                g.queued[i] = 1;
                g.child[i] = g.sibling[i] = -1;
                *top = meld(&g, *top, i);
            }
            touched[changed++] = group;
        }
        /* A group that did not change has nothing left to offer: it was emptied at the length before. */
        for (int32_t t = 0; t < changed; t++) {
            int32_t group = group_of(&g, touched[t]), last = last_open(&g, group, HYPOTHESIS);
            if (last < 0 || last_open(&g, group, REFERENCES) < 0) continue;
            waiting_push(waiting, &queue, last);
        }
        while (queue) {
            int32_t i = waiting_pop(waiting, &queue), group = group_of(&g, g.place[i]);
            while (queue && waiting[0] == i) waiting_pop(waiting, &queue); /* its group changed more than once */
            int32_t last = last_open(&g, group, HYPOTHESIS), other = last_open(&g, group, REFERENCES);
            if (last < 0 || other < 0) continue;
            if (last == i) {
                if (take(budget, l, i, other - hypothesis)) goto done;
                use(&g, i, l);
                use(&g, other, l);
                last = last_open(&g, group, HYPOTHESIS);
            }
            if (last >= 0) waiting_push(waiting, &queue, last);
        }
    }
done:
    free(numbers);
    free(flags);
    return result;
}
#endif
