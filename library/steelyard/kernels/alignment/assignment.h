/* The cheapest way to pair the rows of a square matrix with its columns.
 *
 * Shortest augmenting paths (Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
 * assignment problems", Computing 38, 1987) over integers, so that equal costs are known to be equal. The potentials
 * of the solution tell which pairs occur in any cheapest one; among those the first row gets its lowest possible
 * column, then the second, and so on.
 */
#ifndef ASSIGNMENT_H
#define ASSIGNMENT_H

#include <stdint.h>
#include <string.h>

enum { LARGEST_SIDE = 512, MASKS = LARGEST_SIDE / 64 };

typedef struct {
    int64_t cost[LARGEST_SIDE * LARGEST_SIDE]; /* row * size + column */
    int64_t price[LARGEST_SIDE];               /* of each column */
    int64_t reach[LARGEST_SIDE];               /* length of the shortest path to each column */
    int32_t column_of[LARGEST_SIDE], row_of[LARGEST_SIDE], from[LARGEST_SIDE], list[LARGEST_SIDE];
    uint64_t by_row[LARGEST_SIDE][MASKS], by_column[LARGEST_SIDE][MASKS]; /* pairs that some solution has */
} Assignment;

/* Gives `row` a column, moving other rows on where that is cheapest. */
static inline void augment(Assignment *s, int32_t size, int32_t row) {
    const int64_t *cost = s->cost + (int64_t)row * size;
    int64_t least = 0;
    int32_t low = 0, up = 0, done = 0, end = -1;
    for (int32_t j = 0; j < size; j++) {
        s->reach[j] = cost[j] - s->price[j];
        s->from[j] = row;
        s->list[j] = j;
    }
    while (end < 0) {
        if (low == up) { /* the columns up to `low` are done; collect the nearest of the others */
            done = low;
            least = s->reach[s->list[up++]];
            for (int32_t k = up; k < size; k++) {
                int32_t j = s->list[k];
                if (s->reach[j] > least) continue;
                if (s->reach[j] < least) {
                    up = low;
                    least = s->reach[j];
                }
                s->list[k] = s->list[up];
                s->list[up++] = j;
            }
            for (int32_t k = low; k < up && end < 0; k++)
                if (s->row_of[s->list[k]] < 0) end = s->list[k];
            if (end >= 0) break;
        }
        int32_t through = s->list[low++], i = s->row_of[through];
        const int64_t *other = s->cost + (int64_t)i * size;
        int64_t base = other[through] - s->price[through] - least;
        for (int32_t k = up; k < size; k++) {
            int32_t j = s->list[k];
            int64_t length = other[j] - s->price[j] - base;
            if (length >= s->reach[j]) continue;
            s->reach[j] = length;
            s->from[j] = i;
            if (length > least) continue;
            if (s->row_of[j] < 0) {
                end = j;
                break;
            }
            s->list[k] = s->list[up];
            s->list[up++] = j;
        }
    }
    for (int32_t k = 0; k < done; k++) s->price[s->list[k]] += s->reach[s->list[k]] - least;
    for (int32_t i = -1; i != row;) {
        i = s->from[end];
        s->row_of[end] = i;
        int32_t before = s->column_of[i];
        s->column_of[i] = end;
        end = before;
    }
}

/* Moves `row` to the lowest column that a solution can give it when the rows of `fixed` stay as they are. */
static inline void settle(Assignment *s, int32_t masks, int32_t row, const uint64_t *fixed) {
    uint64_t seen[MASKS], able[MASKS] = {0}; /* rows that can give way; the columns that they would leave */
    int32_t *waiting = s->list, *moves_to = s->from, own = s->column_of[row], count = 0;
    int32_t lowest = -1;
    for (int32_t w = 0; w <= own / 64 && lowest < 0; w++)
        if (s->by_row[row][w]) lowest = 64 * w + __builtin_ctzll(s->by_row[row][w]);
    if (lowest == own) return;
    memcpy(seen, fixed, (size_t)masks * sizeof *seen);
    seen[row / 64] |= (uint64_t)1 << row % 64;
    waiting[count++] = own;
    for (int32_t at = 0; at < count; at++) {
        for (int32_t w = 0; w < masks; w++) {
            uint64_t rows = s->by_column[waiting[at]][w] & ~seen[w];
            seen[w] |= rows;
            for (; rows; rows &= rows - 1) {
                int32_t i = 64 * w + __builtin_ctzll(rows), left = s->column_of[i];
                moves_to[i] = waiting[at];
                able[left / 64] |= (uint64_t)1 << left % 64;
                waiting[count++] = left;
            }
        }
    }
    for (int32_t w = 0; w <= own / 64; w++) {
        uint64_t columns = s->by_row[row][w] & able[w];
        if (!columns) continue;
        int32_t taken = 64 * w + __builtin_ctzll(columns), mover = row;
        if (taken >= own) return;
        while (1) {
            int32_t next = s->row_of[taken];
            s->row_of[taken] = mover;
            s->column_of[mover] = taken;
            if (taken == own) return;
            mover = next;
            taken = moves_to[mover];
        }
    }
}

/*
 * cost holds size * size numbers, whose sums must fit in 62 bits, size <= LARGEST_SIDE; afterwards column_of has the
 * column of each row. Only the first `ordered` rows are settled; let those behind be all alike.
 */
static inline void assign(Assignment *s, int32_t size, int32_t ordered) {
    int32_t masks = (size + 63) / 64;
    memcpy(s->price, s->cost, (size_t)size * sizeof *s->price);
    for (int32_t i = 1; i < size; i++) {
        const int64_t *cost = s->cost + (int64_t)i * size;
        for (int32_t j = 0; j < size; j++) s->price[j] = cost[j] < s->price[j] ? cost[j] : s->price[j];
    }
    for (int32_t j = 0; j < size; j++) s->row_of[j] = s->column_of[j] = -1;
    for (int32_t i = 0; i < size; i++) {
        const int64_t *cost = s->cost + (int64_t)i * size;
        int64_t least = INT64_MAX;
        for (int32_t j = 0; j < size; j++) least = cost[j] - s->price[j] < least ? cost[j] - s->price[j] : least;
        for (int32_t j = 0; j < size && s->column_of[i] < 0; j++) {
            if (s->row_of[j] >= 0 || cost[j] - s->price[j] != least) continue;
            s->row_of[j] = i;
            s->column_of[i] = j;
        }
    }
    for (int32_t i = 0; i < size; i++)
        if (s->column_of[i] < 0) augment(s, size, i);

    uint64_t fixed[MASKS] = {0};
    for (int32_t i = 0; i < size; i++)
        for (int32_t w = 0; w < masks; w++) s->by_row[i][w] = s->by_column[i][w] = 0;
    for (int32_t i = 0; i < size; i++) {
        const int64_t *cost = s->cost + (int64_t)i * size;
        int64_t least = cost[s->column_of[i]] - s->price[s->column_of[i]];
        for (int32_t j = 0; j < size; j++) {
            if (cost[j] - s->price[j] != least) continue;
            s->by_row[i][j / 64] |= (uint64_t)1 << j % 64;
            s->by_column[j][i / 64] |= (uint64_t)1 << i % 64;
        }
    }
    for (int32_t i = 0; i < ordered; i++) {
        settle(s, masks, i, fixed);
        fixed[i / 64] |= (uint64_t)1 << i % 64;
    }
}
#endif
