/* Sums of digits over chosen segments, by tables of the sums of all subsets of eight segments (the "four Russians": Arlazarov,
 * Dinic, Kronrod and Faradzev 1970, "On economical construction of the transitive closure of a directed graph").
 *
 * A digit is below 1024, so that 64 of them fit in 16 bits.
 */
#ifndef SUBSET_SUMS_H
#define SUBSET_SUMS_H

#include <string.h>

#include "draw_bits.h"

enum {
    DIGIT_BITS = 10,
    LANES = 8,      /* digits in a vector */
    WIDE = 8,       /* vectors of a wide tile: a table of 256 KiB */
    NARROW = 2,     /* and of a narrow one */
    SUBSETS = 256,
    BATCH = 8       /* sums of eight digits that fit in 16 bits together */
};

typedef uint16_t Digits __attribute__((vector_size(LANES * sizeof(uint16_t))));

#define INLINE static inline __attribute__((always_inline))

/* The table of a run: for each group of segments and each of its subsets the sums of `vectors` x 8 digits. `digits` are
 * those of the run's first segment; the next segment's are `stride` further on. */
INLINE void make_table(const int vectors, const uint16_t *digits, int64_t stride, Digits *restrict table) {
    for (int segment = 0; segment < RUN; segment++, digits += stride) {
        Digits *group = table + (int64_t)(segment / GROUP) * SUBSETS * vectors;
        int64_t made = (int64_t)1 << segment % GROUP;
        Digits own[WIDE];
        memcpy(own, digits, sizeof(Digits) * (size_t)vectors);
        if (made == 1) memset(group, 0, sizeof(Digits) * (size_t)vectors);
        for (int64_t subset = 0; subset < made; subset++) {
            const Digits *without = group + subset * vectors;
            Digits *with = group + (made + subset) * vectors;
            for (int v = 0; v < vectors; v++) with[v] = without[v] + own[v];
        }
    }
}

INLINE void add_row(const int vectors, const Digits *table, int64_t row, Digits *restrict sum) {
    for (int v = 0; v < vectors; v++) sum[v] += table[row * vectors + v];
}

INLINE void clear(const int vectors, Digits *sum) {
    for (int v = 0; v < vectors; v++) sum[v] = (Digits){0};
}

INLINE void add_group(const int vectors, const Digits *table, uint64_t word, int group, Digits *restrict sum) {
    add_row(vectors, table, group * SUBSETS + (int64_t)group_of(word, group), sum);
}

/* The digits of the segments whose bits are 1. Written out, because compilers leave a loop that costs a fifth. */
INLINE void add_word(const int vectors, const Digits *table, uint64_t word, Digits *restrict sum) {
    add_group(vectors, table, word, 0, sum);
    add_group(vectors, table, word, 1, sum);
    add_group(vectors, table, word, 2, sum);
    add_group(vectors, table, word, 3, sum);
    add_group(vectors, table, word, 4, sum);
    add_group(vectors, table, word, 5, sum);
    add_group(vectors, table, word, 6, sum);
    add_group(vectors, table, word, 7, sum);
}

INLINE void add_wide(const int vectors, const Digits *sum, int shift, uint32_t *restrict totals) {
    const uint16_t *narrow = (const uint16_t *)sum;
    for (int i = 0; i < vectors * LANES; i++) totals[i] += (uint32_t)narrow[i] << shift;
}

/* Adds to totals (rows, vectors x 8) what each row draws of one run, for which the table was made. */
INLINE void add_run(const int vectors, const int planes, const DrawBits *draws, int64_t run, const Digits *table,
                    uint32_t *restrict totals) {
    const uint64_t *words = draws->bits + run * draws->rows * planes;
    const int64_t *ends = draws->ends ? draws->ends + run * draws->rows : NULL;
    for (int64_t row = 0; row < draws->rows; row++, words += planes, totals += vectors * LANES) {
        Digits ones[WIDE], twos[WIDE];
        clear(vectors, ones);
        add_word(vectors, table, words[0], ones);
        if (planes == 1) {
            add_wide(vectors, ones, 0, totals);
            continue;
        }
        clear(vectors, twos);
        add_word(vectors, table, words[1], twos);
        for (int i = 0; i < vectors * LANES; i++) {
            totals[i] += ((const uint16_t *)ones)[i] + ((uint32_t)((const uint16_t *)twos)[i] << 1);
        }
        for (int64_t entry = ends ? ends[row] : 0; ends && entry < ends[row + 1]; ) {
            int64_t end = ends[row + 1] - entry < BATCH ? ends[row + 1] : entry + BATCH;
            clear(vectors, ones);
            for (; entry < end; entry++) add_row(vectors, table, draws->entries[entry], ones);
            add_wide(vectors, ones, 2, totals);
        }
    }
}

#endif
