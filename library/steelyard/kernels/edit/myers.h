/* Levenshtein distances, 64 cells of a row in a machine word: Myers, "A fast bit-vector algorithm for approximate string
 * matching based on dynamic programming" (JACM 46, 1999), as rewritten by Hyyro, "A bit-vector algorithm for computing
 * Levenshtein and Damerau edit distances" (Nordic Journal of Computing 10, 2003).
 *
 * D[i][j] is the distance of the first i items of one side to the first j of the other, words or letters numbered from 0.
 * A row is stored as differences between neighbouring cells: bit b of `plus` where D[i][b + 1] - D[i][b] = 1, of `minus`
 * where it is -1. Row 0 has plus everywhere.
 */
#ifndef MYERS_H
#define MYERS_H

#include <stdint.h>

#include "comparing.h"

enum { WORD_BITS = 64 };

typedef struct {
    uint64_t plus, minus;
} BitRow;

static const BitRow ROW_0 = {~(uint64_t)0, 0};

static inline int64_t ones(uint64_t bits) { return __builtin_popcountll(bits); }
static inline uint64_t low_bits(int64_t bits) { return bits >= WORD_BITS ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }

/* One row further in 64 columns. equal: the columns whose item is that of the row. grows, shrinks: whether D changes by 1
 * or -1 from row to row, of the column before the first one when called, of the last one afterwards. Returns where a cell
 * equals its diagonal neighbour. */
static inline uint64_t next_part(BitRow *row, uint64_t equal, uint64_t *grows, uint64_t *shrinks) {
    uint64_t plus = row->plus, minus = row->minus, match = equal | *shrinks;
    uint64_t diagonal = (((match & plus) + plus) ^ plus) | match | minus;
    uint64_t up_plus = minus | ~(diagonal | plus), up_minus = plus & diagonal;
    uint64_t grown = up_plus << 1 | *grows, shrunk = up_minus << 1 | *shrinks;
    row->plus = shrunk | ~(diagonal | grown);
    row->minus = grown & diagonal;
    *grows = up_plus >> (WORD_BITS - 1);
    *shrinks = up_minus >> (WORD_BITS - 1);
    return diagonal;
}

/* The same where these are all columns: before the first one, D grows by 1 from row to row. */
static inline uint64_t next_row(BitRow *row, uint64_t equal) {
    uint64_t grows = 1, shrinks = 0;
    return next_part(row, equal, &grows, &shrinks);
}

/* The same for rows of more columns, in so many parts. */
static inline void next_wide_row(BitRow *row, const uint64_t *equal, int64_t parts) {
    uint64_t grows = 1, shrinks = 0;
    for (int64_t p = 0; p < parts; p++) next_part(row + p, equal[p], &grows, &shrinks);
}

/* D[i][columns] - D[i][0]. */
static inline int64_t across(const BitRow *row, int64_t columns) {
    int64_t sum = 0;
    for (; columns >= WORD_BITS; columns -= WORD_BITS, row++) sum += ones(row->plus) - ones(row->minus);
    if (columns) sum += ones(row->plus & low_bits(columns)) - ones(row->minus & low_bits(columns));
    return sum;
}

/* For long rows, 64 columns at a time through all rows: where each item of these columns stands. */
typedef struct {
    uint8_t *slot; /* by item; all 0 between uses */
    uint64_t places[WORD_BITS + 1]; /* by slot; slot 0 is every item that is not there */
} Columns;

static inline void set_columns(Columns *columns, const int32_t *items, int64_t count) {
    int used = 0;
    columns->places[0] = 0;
    for (int64_t j = 0; j < count; j++) {
        uint8_t *slot = &columns->slot[items[j]];
        if (!*slot) {
            *slot = (uint8_t)++used;
            columns->places[used] = 0;
        }
        columns->places[*slot] |= (uint64_t)1 << j;
    }
}

static inline void clear_columns(Columns *columns, const int32_t *items, int64_t count) {
    for (int64_t j = 0; j < count; j++) columns->slot[items[j]] = 0;
}

/* The last row of these columns. */
static inline BitRow pass_rows(const Columns *columns, const int32_t *items, int64_t count) {
    BitRow row = ROW_0;
    for (int64_t i = 0; i < count; i++) next_row(&row, columns->places[columns->slot[items[i]]]);
    return row;
}

/* The same where columns stand before these, or behind them. edges: of each row by how much D changes from the row before
 * (-1, 0, 1), in the column before the first one when called, in the last of 64 afterwards. */
static inline BitRow pass_rows_between(const Columns *columns, const int32_t *items, int64_t count, int8_t *edges) {
    BitRow row = ROW_0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t grows = edges[i] > 0, shrinks = edges[i] < 0;
        next_part(&row, columns->places[columns->slot[items[i]]], &grows, &shrinks);
        edges[i] = (int8_t)((int)grows - (int)shrinks);
    }
    return row;
}
#endif
