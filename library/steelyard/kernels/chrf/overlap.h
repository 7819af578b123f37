/* The n-grams that two sequences of symbols share, each counted as often as both have it. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include "automaton_overlap.h"
#include "clipped_ngrams.h"
#include "overlap_bits.h"

enum { LARGEST_ORDER = 64 };

typedef struct {
    int orders;
    NgramBits bits; /* for short sequences, */
    Automaton automaton; /* for most others, */
    Clipped counted; /* and for any */
    int32_t texts; /* that `counted` was compared with */
    enum { BITS, AUTOMATON, COUNTED } held; /* which of them holds the sequence that was built last */
} NgramOverlap;

static inline void ngrams_free(NgramOverlap *ngrams) {
    free(ngrams->bits.ends.memory);
    automaton_free(&ngrams->automaton);
    clipped_free(&ngrams->counted);
}

/* Takes in `length` symbols, all from 1 to width - 1. Returns 0, or as kernel.h says. */
static inline int ngrams_build(NgramOverlap *ngrams, const uint32_t *symbols, size_t length, size_t width, int orders) {
    ngrams->orders = orders;
    int failed = bits_build(&ngrams->bits, symbols, length, width, orders);
    ngrams->held = BITS;
    if (failed > 0) {
        failed = automaton_build(&ngrams->automaton, symbols, length, width, orders);
        ngrams->held = AUTOMATON;
    }
    if (failed > 0) {
        if (length > (size_t)((INT32_MAX - 1) / orders)) return TOO_MANY_WORDS;
        failed = clipped_clear(&ngrams->counted, (int64_t)length * orders + 1);
        if (!failed) clipped_add(&ngrams->counted, (const int32_t *)symbols, (int64_t)length, orders, 0);
        ngrams->texts = 0;
        ngrams->held = COUNTED;
    }
    return failed;
}

/* matches[n - 1] = how many n-grams of order n the two sequences share; symbol 0 of the other one is in none. Returns
 * -1 when out of memory. */
static inline int ngrams_overlap(NgramOverlap *ngrams, const uint32_t *symbols, size_t length, uint32_t *matches) {
    if (ngrams->held == AUTOMATON) return automaton_overlap(&ngrams->automaton, symbols, length, matches);
    if (ngrams->held == BITS) {
        bits_overlap(&ngrams->bits, symbols, length, matches);
        return 0;
    }
    int64_t found[LARGEST_ORDER];
    const int orders = ngrams->orders;
    clipped_overlap(&ngrams->counted, (const int32_t *)symbols, (int64_t)length, orders, ++ngrams->texts, found);
    for (int n = 0; n < orders; n++) matches[n] = (uint32_t)found[n];
    return 0;
}
#endif
