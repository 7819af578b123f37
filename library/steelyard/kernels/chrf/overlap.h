/* The n-grams that two sequences of symbols share, each counted as often as both have it. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include "automaton_overlap.h"
#include "ngram_lists.h"
#include "overlap_bits.h"

typedef struct {
    NgramBits bits; /* for short sequences, */
    Automaton automaton; /* for most others, */
    NgramLists lists; /* and for any */
    enum { BITS, AUTOMATON, LISTS } held; /* which of them holds the sequence that was built last */
} NgramOverlap;

static inline void ngrams_free(NgramOverlap *ngrams) {
    free(ngrams->bits.ends.memory);
    automaton_free(&ngrams->automaton);
    lists_free(&ngrams->lists);
}

/* Takes in `length` symbols, all from 1 to width - 1. Returns 0, or as kernel.h says. */
static inline int ngrams_build(NgramOverlap *ngrams, const uint32_t *symbols, size_t length, size_t width, int orders) {
    int failed = bits_build(&ngrams->bits, symbols, length, width, orders);
    ngrams->held = BITS;
    if (failed > 0) {
        failed = automaton_build(&ngrams->automaton, symbols, length, width, orders);
        ngrams->held = AUTOMATON;
    }
    if (failed > 0) {
        failed = lists_build(&ngrams->lists, symbols, length, width, orders);
        ngrams->held = LISTS;
    }
    return failed;
}

/* matches[n - 1] = how many n-grams of order n the two sequences share; symbol 0 of the other one is in none. Returns
 * -1 when out of memory. */
static inline int ngrams_overlap(NgramOverlap *ngrams, const uint32_t *symbols, size_t length, uint32_t *matches) {
    if (ngrams->held == AUTOMATON) return automaton_overlap(&ngrams->automaton, symbols, length, matches);
    if (ngrams->held == BITS) bits_overlap(&ngrams->bits, symbols, length, matches);
    else lists_overlap(&ngrams->lists, symbols, length, matches);
    return 0;
}
#endif
