/* The n-grams of one sequence of symbols, counted, and how many of another sequence's are among them, in memory and
 * time linear in the lengths, whatever the texts and orders. For what ngram_automaton.h is not made for.
 *
 * The n-grams form a trie, level by level: a node of level n is an n-gram, its children are the n-grams one
 * symbol longer. A sequence is matched by following its last 1, 2, 3 ... symbols down the levels, one step
 * per level and symbol; one node of each level is "not there" and has no children, so nothing needs to be
 * asked on the way. Children are found by binary search in sorted lists.
 */
#ifndef NGRAM_LISTS_H
#define NGRAM_LISTS_H

#include <string.h>

#include "scratch.h"
#include "kernel.h"

enum { LARGEST_ORDER = 64 };

typedef struct {
    int orders;
    size_t base[LARGEST_ORDER + 2]; /* by order: the number of its node "not there"; its others follow */
    Buffer counted; /* occurrences of each node's n-gram */
    Buffer left;    /* those that are not matched yet */
    Buffer symbols; /* last symbol of each node's n-gram */
    Buffer first;   /* first child of each node, the next node's being the end */
    Buffer nodes;   /* while building: the node of the n-gram that begins at each position */
    Buffer places;  /* while building */
} NgramLists;

static inline void lists_free(NgramLists *ngrams) {
    Buffer *all[] = {&ngrams->counted, &ngrams->left,  &ngrams->symbols,
                     &ngrams->first,   &ngrams->nodes, &ngrams->places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->memory);
}

/* Counts the n-grams of `length` symbols, all from 1 to width - 1; returns 0, or as kernel.h says. Positions in the order of
 * their symbols, put into one bucket per node, are in the order of (node, symbol): each run of equal ones is a child. */
static inline int lists_build(NgramLists *ngrams, const uint32_t *symbols, size_t length, size_t width,
                              int most_orders) {
    const size_t orders = (size_t)most_orders;
    if (length > INT32_MAX) return TOO_MANY_WORDS;
    ngrams->orders = most_orders;
    const size_t most = orders * (length + 2) * sizeof(uint32_t);
    const size_t larger = (width > length + 1 ? width : length + 1) + 1;
    if (reserve(&ngrams->counted, most) || reserve(&ngrams->left, most) ||
        reserve(&ngrams->symbols, most) || reserve(&ngrams->first, most) ||
        reserve(&ngrams->nodes, (length + 1) * sizeof(uint32_t)) ||
        reserve(&ngrams->places, (2 * length + larger) * sizeof(uint32_t)))
        return -1;
    uint32_t *const nodes = ngrams->nodes.memory, *const by_symbol = ngrams->places.memory;
    uint32_t *const bucketed = by_symbol + length, *const ends = bucketed + length;
    uint32_t roots[2], *first = roots;
    memset(nodes, 0, length * sizeof *nodes);
    memset(ends, 0, (width + 1) * sizeof *ends);
    for (size_t i = 0; i < length; i++) ends[symbols[i] + 1]++;
    for (size_t s = 0; s < width; s++) ends[s + 1] += ends[s];
    for (size_t i = 0; i < length; i++) by_symbol[ends[symbols[i]]++] = (uint32_t)i;
    size_t total = 0, parents = 0;
    for (size_t order = 1; order <= orders; order++) {
        uint32_t *counted = (uint32_t *)ngrams->counted.memory + total;
        uint32_t *names = (uint32_t *)ngrams->symbols.memory + total;
        const size_t positions = length >= order ? length - order + 1 : 0, shift = order - 1;
        memset(ends, 0, (parents + 2) * sizeof *ends);
        for (size_t i = 0; i < positions; i++) ends[nodes[i] + 1]++;
        for (size_t node = 0; node <= parents; node++) ends[node + 1] += ends[node];
        for (size_t i = 0; i < length; i++)
            if (by_symbol[i] >= shift) {
                const uint32_t start = by_symbol[i] - (uint32_t)shift;
                bucketed[ends[nodes[start]]++] = start;
            }
        uint32_t last = 0, family = 0;
        counted[0] = 0;
        first[0] = 1;
        for (size_t i = 0; i < positions; i++) {
            const uint32_t start = bucketed[i], parent = nodes[start], symbol = symbols[start + shift];
            if (i == 0 || parent != family || symbol != names[last]) {
                names[++last] = symbol;
                counted[last] = 0;
                while (family < parent) first[++family] = last;
            }
            counted[last]++;
            nodes[start] = last;
        }
        while (family <= parents) first[++family] = last + 1;
        ngrams->base[order] = total;
        total += last + 2;
        first = (uint32_t *)ngrams->first.memory + ngrams->base[order];
        parents = last;
    }
    ngrams->base[orders + 1] = total;
    return 0;
}

static inline uint32_t child_in_list(const uint32_t *names, uint32_t low, uint32_t high, uint32_t symbol) {
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (names[middle] < symbol) low = middle + 1;
        else high = middle;
    }
    return low < end && names[low] == symbol ? low : 0;
}

/* matches[n - 1] = how many n-grams of order n the two sequences share, each as often as both have it. */
static inline void lists_overlap(NgramLists *ngrams, const uint32_t *symbols, size_t length, uint32_t *matches) {
    const int orders = ngrams->orders;
    const uint32_t *const names = ngrams->symbols.memory, *const first = ngrams->first.memory;
    uint32_t *const left = ngrams->left.memory;
    uint32_t node[LARGEST_ORDER + 1] = {0};
    memcpy(left, ngrams->counted.memory, ngrams->base[orders + 1] * sizeof *left);
    memset(matches, 0, (size_t)orders * sizeof *matches);
    for (size_t i = 0; i < length; i++) {
        for (int order = orders; order >= 1; order--) {
            const size_t here = ngrams->base[order];
            uint32_t low = 1, high = (uint32_t)(ngrams->base[order + 1] - here - 1);
            if (order > 1) {
                const uint32_t *range = first + ngrams->base[order - 1] + node[order - 1];
                low = range[0], high = range[1];
            }
            const uint32_t child = low < high ? child_in_list(names + here, low, high, symbols[i]) : 0;
            const uint32_t match = left[here + child] != 0;
            left[here + child] -= match;
            matches[order - 1] += match;
            node[order] = child;
        }
    }
}

#endif
