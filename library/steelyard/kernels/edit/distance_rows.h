/* Levenshtein distances row by row, 64 columns in a machine word: Myers, "A fast bit-vector algorithm for approximate
 * string matching based on dynamic programming" (JACM 46, 1999), as rewritten by Hyyro (Nordic Journal of Computing 10,
 * 2003).
 *
 * D[i][j] is the distance of the first i items of one side to the first j of the other. A row is stored as differences
 * between neighbouring cells: bit b of `plus` where D[i][b + 1] - D[i][b] = 1, of `minus` where it is -1. BitRow 0 has
 * plus everywhere.
 */
#ifndef DISTANCE_ROWS_H
#define DISTANCE_ROWS_H

#include <stdint.h>

#include "comparing.h"

enum { WORD_BITS = 64 };

typedef struct {
    uint64_t plus, minus;
} BitRow;

static inline int64_t ones(uint64_t bits) { return __builtin_popcountll(bits); }
static inline uint64_t low_bits(int64_t bits) { return bits >= WORD_BITS ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }

/* One row further; the column left of the first grows by 1. Returns where a cell equals its diagonal neighbour. */
static inline uint64_t next_row(BitRow *row, uint64_t equal) {
    uint64_t plus = row->plus, minus = row->minus;
    uint64_t diagonal = (((equal & plus) + plus) ^ plus) | equal | minus;
    uint64_t up_plus = (minus | ~(diagonal | plus)) << 1 | 1, up_minus = (plus & diagonal) << 1;
    row->plus = up_minus | ~(diagonal | up_plus);
    row->minus = up_plus & diagonal;
    return diagonal;
}

/* The same for a row of more columns: what changes between the cells at the edge of one part goes into the next. */
static inline void next_wide_row(BitRow *row, const uint64_t *equal, int64_t parts) {
    uint64_t grows = 1, shrinks = 0;
    for (int64_t p = 0; p < parts; p++) {
        uint64_t plus = row[p].plus, minus = row[p].minus, match = equal[p] | shrinks, stays = equal[p] | minus;
        uint64_t diagonal = (((match & plus) + plus) ^ plus) | match;
        uint64_t up_plus = minus | ~(diagonal | plus), up_minus = plus & diagonal;
        uint64_t grown = up_plus << 1 | grows, shrunk = up_minus << 1 | shrinks;
        row[p].plus = shrunk | ~(stays | grown);
        row[p].minus = grown & stays;
        grows = up_plus >> (WORD_BITS - 1);
        shrinks = up_minus >> (WORD_BITS - 1);
    }
}

/* D[i][columns] - D[i][0]. */
static inline int64_t across(const BitRow *row, int64_t columns) {
    int64_t sum = 0;
    for (; columns >= WORD_BITS; columns -= WORD_BITS, row++) sum += ones(row->plus) - ones(row->minus);
    if (columns) sum += ones(row->plus & low_bits(columns)) - ones(row->minus & low_bits(columns));
    return sum;
}
#endif
