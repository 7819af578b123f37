/* The n-grams of at most 64 symbols, and how many of another sequence's are among them, by bits: as in ngram_masks.h. */
#ifndef OVERLAP_BITS_H
#define OVERLAP_BITS_H

#include "ngram_masks.h"
#include "scratch.h"

enum { MOST_BITS = 64, MOST_BIT_ORDERS = 8 };

typedef struct {
    Buffer ends; /* of each symbol a mask: where it is */
    int orders;
} NgramBits;

/* Returns -1 when out of memory, 1 where there are too many. */
static inline int bits_build(NgramBits *bits, const uint32_t *symbols, size_t length, size_t width, int orders) {
    if (length > MOST_BITS || orders > MOST_BIT_ORDERS) return 1;
    if (reserve(&bits->ends, width * sizeof(uint64_t))) return -1;
    uint64_t *ends = bits->ends.memory;
    memset(ends, 0, width * sizeof *ends);
    for (size_t i = 0; i < length; i++) ends[symbols[i]] |= (uint64_t)1 << i;
    bits->orders = orders;
    return 0;
}

ALWAYS_INLINE void bits_count(const uint64_t *ends, int orders, const uint32_t *symbols, size_t length,
                              uint32_t *matches) {
    uint64_t ending[MOST_BIT_ORDERS] = {0}, left[MOST_BIT_ORDERS];
    for (int n = 0; n < orders; n++) left[n] = ~(uint64_t)0;
    for (size_t i = 0; i < length; i++) {
        masks_step(ending, ends + symbols[i], 1, orders);
        for (int n = 0; n < orders; n++) left[n] ^= lowest_bit(ending[n] & left[n]);
    }
    for (int n = 0; n < orders; n++) matches[n] = (uint32_t)__builtin_popcountll(~left[n]);
}

/* matches[n - 1] = how many n-grams of order n the two sequences share, each as often as both have it. */
static inline void bits_overlap(const NgramBits *bits, const uint32_t *symbols, size_t length, uint32_t *matches) {
    const uint64_t *ends = bits->ends.memory;
    /* What is usual is compiled with these numbers, so that all masks are in registers. */
    if (bits->orders == 2) bits_count(ends, 2, symbols, length, matches);
    else if (bits->orders == 6) bits_count(ends, 6, symbols, length, matches);
    else bits_count(ends, bits->orders, symbols, length, matches);
}
#endif
