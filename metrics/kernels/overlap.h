/* The n-grams that two sequences of symbols share, each counted as often as both have it. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include "automaton_overlap.h"
#include "ngram_lists.h"

typedef struct {
    Automaton automaton;
    NgramLists lists;
    int listed; /* which of the two holds the sequence that was built last */
} Ngrams;

static inline void ngrams_free(Ngrams *ngrams) {
    automaton_free(&ngrams->automaton);
    lists_free(&ngrams->lists);
}

/* Takes in `length` symbols, all from 1 to width - 1. Returns -1 when out of memory. */
static inline int ngrams_build(Ngrams *ngrams, const uint32_t *symbols, size_t length, size_t width, int orders) {
    const int built = automaton_build(&ngrams->automaton, symbols, length, width, orders);
    ngrams->listed = built > 0;
    return built > 0 ? lists_build(&ngrams->lists, symbols, length, width, orders) : built;
}

/* matches[n - 1] = how many n-grams of order n the two sequences share; symbol 0 of the other one is in none. Returns
 * -1 when out of memory. */
static inline int ngrams_overlap(Ngrams *ngrams, const uint32_t *symbols, size_t length, uint32_t *matches) {
    if (!ngrams->listed) return automaton_overlap(&ngrams->automaton, symbols, length, matches);
    lists_overlap(&ngrams->lists, symbols, length, matches);
    return 0;
}
#endif
