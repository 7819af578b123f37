/* Exact sums of what replicates and trials draw, of many columns at a time.
 *
 * A column is made of digits to the base 1024 of (value - least value) in steps of its grid. The digits of all columns lie
 * side by side in slots; wide tiles of slots come first, then narrow ones.
 */
#include <stdint.h>
#include <stdlib.h>

#include "draw_bits.h"
#include "kernel.h"
#include "subset_sums.h"

enum { WIDE_SLOTS = WIDE * LANES, NARROW_SLOTS = NARROW * LANES };

typedef struct {
    double *sums; /* of the first row; the next row's is `stride` further on */
    int64_t stride;
    int64_t slot, digits;
    int64_t least; /* in steps */
    double step;
} Column;

typedef struct {
    const uint32_t *first;
    int64_t stride;
} Place;

static int64_t draws_of(const DrawBits *draws, int64_t run, int64_t row) {
    int64_t at = run * draws->rows + row;
    const uint64_t *words = draws->bits + at * draws->planes;
    int64_t count = __builtin_popcountll(words[0]);
    if (draws->planes == 1) return count;
    count += 2 * __builtin_popcountll(words[1]);
    if (draws->ends) {
        for (int64_t i = draws->ends[at]; i < draws->ends[at + 1]; i++) {
            count += 4 * __builtin_popcount(draws->entries[i] & 255);
        }
    }
    return count;
}

/* Writes how many draws each row has; see DrawBits for the rest.
 *
 * Reads bits: uint64[runs, rows, planes], ends: int64[runs * rows + 1]?, entries: uint16[*]?. Writes
 * counts: int64[rows]. */
KERNEL int64_t steelyard_count_draws(const uint64_t *bits, const int64_t *ends, const uint16_t *entries, int64_t rows,
                                     int64_t runs, int64_t planes, int64_t *counts) {
    DrawBits draws = {rows, runs, planes, bits, ends, entries};
    for (int64_t row = 0; row < rows; row++) counts[row] = 0;
    for (int64_t run = 0; run < runs; run++) {
        for (int64_t row = 0; row < rows; row++) counts[row] += draws_of(&draws, run, row);
    }
    return 0;
}

static void add_wide_tile(const DrawBits *draws, int64_t run, const uint16_t *digits, int64_t slots, Digits *table,
                          uint32_t *totals) {
    make_table(WIDE, digits, slots, table);
    if (draws->planes == 1) add_run(WIDE, 1, draws, run, table, totals);
    else add_run(WIDE, 2, draws, run, table, totals);
}

static void add_narrow_tile(const DrawBits *draws, int64_t run, const uint16_t *digits, int64_t slots, Digits *table,
                            uint32_t *totals) {
    make_table(NARROW, digits, slots, table);
    if (draws->planes == 1) add_run(NARROW, 1, draws, run, table, totals);
    else add_run(NARROW, 2, draws, run, table, totals);
}

/* The totals of all slots, tile by tile, each (rows, slots of the tile). */
static void add_tiles(const DrawBits *draws, const uint16_t *digits, int64_t slots, Digits *table, uint32_t *totals) {
    memset(totals, 0, (size_t)(draws->rows * slots) * sizeof *totals);
    for (int64_t slot = 0; slot < slots; ) {
        int wide = slots - slot >= WIDE_SLOTS;
        for (int64_t run = 0; run < draws->runs; run++) {
            const uint16_t *own = digits + run * RUN * slots + slot;
            if (wide) add_wide_tile(draws, run, own, slots, table, totals + slot * draws->rows);
            else add_narrow_tile(draws, run, own, slots, table, totals + slot * draws->rows);
        }
        slot += wide ? WIDE_SLOTS : NARROW_SLOTS;
    }
}

/* Where each slot's total of the first row lies, and how far the next row's is. */
static void place_totals(const uint32_t *totals, int64_t rows, int64_t slots, Place *places) {
    int64_t wide = slots / WIDE_SLOTS * WIDE_SLOTS;
    for (int64_t slot = 0; slot < slots; slot++) {
        int64_t size = slot < wide ? WIDE_SLOTS : NARROW_SLOTS;
        int64_t within = slot % size; /* narrow tiles begin at a multiple of 64 */
        places[slot] = (Place){totals + (slot - within) * rows + within, size};
    }
}

/* In 64 bits, because value - least, summed, may be more than a double holds, though the sum of the values is not. */
static void write_sums(int64_t rows, const Place *places, const int64_t *counts, const Column *columns, int64_t count) {
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t c = 0; c < count; c++) {
            const Column *column = columns + c;
            int64_t steps = column->least * counts[row];
            for (int64_t digit = 0; digit < column->digits; digit++) {
                const Place *place = places + column->slot + digit;
                steps += (int64_t)place->first[row * place->stride] << DIGIT_BITS * digit;
            }
            column->sums[row * column->stride] = (double)steps * column->step;
        }
    }
}

/* Writes the sums of what each row draws of each column. `counts` is how many segments each row draws, fewer than 2^22, so
 * that sums of digits fit in 32 bits; `digits` is (64 x runs, slots), slots a multiple of 16. Returns -1 where there is no
 * memory.
 *
 * Reads bits: uint64[runs, rows, planes], ends: int64[runs * rows + 1]?, entries: uint16[*]?, counts: int64[rows],
 * digits: uint16[64 * runs, slots], columns: column[*]. */
KERNEL int64_t steelyard_sums_of_draws(const uint64_t *bits, const int64_t *ends, const uint16_t *entries, int64_t rows,
                                       int64_t runs, int64_t planes, const int64_t *counts, const uint16_t *digits,
                                       int64_t slots, const Column *columns, int64_t count) {
    DrawBits draws = {rows, runs, planes, bits, ends, entries};
    Digits *table = aligned_alloc(64, sizeof(Digits) * WIDE * SUBSETS * GROUPS);
    uint32_t *totals = malloc((size_t)(rows * slots + 1) * sizeof *totals);
    Place *places = malloc((size_t)(slots + 1) * sizeof *places);
    int64_t failed = table && totals && places ? 0 : OUT_OF_MEMORY;
    if (!failed) {
        add_tiles(&draws, digits, slots, table, totals);
        place_totals(totals, rows, slots, places);
        write_sums(rows, places, counts, columns, count);
    }
    free(table);
    free(totals);
    free(places);
    return failed;
}
