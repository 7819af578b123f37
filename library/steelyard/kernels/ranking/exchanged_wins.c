/* Two metrics exchange scores, and permutations turn segments: how often one system is above another. See exchanged_wins.py.
 *
 * A trial says of each cell whether it is exchanged, a permutation of each segment whether it is turned. What counts of a
 * trial and a permutation is the sum of a system's scores over the cells that are both, which is linear in the scores: the
 * sums of one metric serve all that it exchanges scores with. A few segments at a time have all of their sums made for each
 * trial, from which every permutation takes one ("four Russians"). All scores lie on a grid where sums are exact in any
 * order.
 */
#include "kernel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 16,           /* trials worked on side by side */
    TOGETHER = 6,         /* segments whose sums are all made, */
    SUBSETS = 1 << TOGETHER,
    TABLES = 3,           /* and how many times so many, which fit into the first cache */
    TILE = 16,            /* permutations whose sums of all metrics stay in the second one */
    LARGEST = 30000       /* what sums are rounded to */
};

/* What the least of our processors works on at once. Arrays need not be aligned for it. */
enum { CHAINS = 4, PART = 2, PARTS = LANES / PART, SMALL_PART = 8, SMALL_PARTS = LANES / SMALL_PART };
typedef double Part __attribute__((vector_size(16), aligned(8)));
typedef int64_t Bits __attribute__((vector_size(16), aligned(8)));
typedef int16_t SmallPart __attribute__((vector_size(16), aligned(2)));

/* turned says of the segments TOGETHER side by side which a permutation turns, a bit for each; and so for as many as TABLES
 * divide.
 *
 * Reads scores: float64[*, *, *], swapped: uint8[rows, segments, 16], turned: uint8[3 * ((segments + 17) // 18), *].
 * Writes sums: float64[metrics, rows, permutations, 16]. */
KERNEL int64_t steelyard_exchanged_sums(const double *scores, int64_t metrics, int64_t rows, int64_t segments,
                                        const uint8_t *swapped, const uint8_t *turned, int64_t permutations,
                                        double *restrict sums) {
    Part subsets[TABLES][SUBSETS][PARTS];
    memset(sums, 0, (size_t)(metrics * rows * permutations * LANES) * sizeof *sums);
    for (int64_t row = 0; row < metrics * rows; row++) {
        const double *own = scores + row * segments;
        const uint8_t *places = swapped + row % rows * segments * LANES;
        double *restrict found = sums + row * permutations * LANES;
        for (int64_t begin = 0; begin < segments; begin += TOGETHER * TABLES) {
            for (int64_t table = 0; table < TABLES; table++) {
                Part (*restrict made)[PARTS] = subsets[table];
                memset(made[0], 0, sizeof made[0]);
                for (int64_t k = 0; k < TOGETHER; k++) {
                    int64_t segment = begin + table * TOGETHER + k;
                    double added[LANES] = {0};
                    for (int t = 0; segment < segments && t < LANES; t++)
                        added[t] = places[segment * LANES + t] ? own[segment] : 0.0;
                    for (int part = 0; part < PARTS; part++)
                        for (int64_t i = 0; i < 1 << k; i++)
                            made[(1 << k) + i][part] = made[i][part] + *(const Part *)(added + part * PART);
                }
            }
            const uint8_t *chosen = turned + begin / TOGETHER * permutations;
            for (int64_t p = 0; p < permutations; p++) {
                const Part *a = subsets[0][chosen[p]], *b = subsets[1][chosen[permutations + p]];
                const Part *c = subsets[2][chosen[2 * permutations + p]];
                Part *here = (Part *)(found + p * LANES);
                for (int part = 0; part < PARTS; part++) here[part] += a[part] + b[part] + c[part];
            }
        }
    }
    return 0;
}

/* The sums of a row where a metric has what it gets from another one in place of what it gives; the size of the largest one
 * goes into most. */
static void mix(const double *whole, const double *given, const double *got, int64_t count, double *sums, double *most) {
    Part largest[CHAINS];
    for (int chain = 0; chain < CHAINS; chain++) largest[chain] = (Part){*most, *most};
    for (int64_t p = 0; p < count; p++)
        for (int part = 0; part < PARTS; part++) {
            int64_t i = p * LANES + part * PART;
            Part sum = whole[p] - *(const Part *)(given + i) + *(const Part *)(got + i), *own = largest + part % CHAINS;
            *(Part *)(sums + i) = sum;
            Bits size = (Bits)sum & INT64_MAX, larger = (Part)size > *own;
            *own = (Part)((size & larger) | ((Bits)*own & ~larger));
        }
    for (int chain = 0; chain < CHAINS; chain++)
        for (int t = 0; t < PART; t++)
            if (largest[chain][t] > *most) *most = largest[chain][t];
}

static void round_all(const double *restrict exact, int64_t count, double scale, int16_t *restrict rounded) {
    for (int64_t i = 0; i < count; i++) rounded[i] = (int16_t)(int32_t)(exact[i] * scale);
}

/* Adds to counts (LANES) twice the permutations where one row is above another one, and once those where they are equal. */
static void compare(const int16_t *one, const int16_t *other, const double *exact_one, const double *exact_other,
                    int64_t count, int32_t *counts) {
    SmallPart above[SMALL_PARTS] = {{0}}, equal[SMALL_PARTS] = {{0}};
    for (int64_t i = 0; i < count; i += LANES)
        for (int part = 0; part < SMALL_PARTS; part++) {
            SmallPart a = *(const SmallPart *)(one + i + part * SMALL_PART);
            SmallPart b = *(const SmallPart *)(other + i + part * SMALL_PART);
            above[part] -= a > b;
            equal[part] |= a == b;
        }
    int16_t found[LANES];
    memcpy(found, above, sizeof found);
    for (int t = 0; t < LANES; t++) counts[t] += 2 * found[t];
    Bits any = {0};
    for (int part = 0; part < SMALL_PARTS; part++) any |= (Bits)equal[part];
    if (!(any[0] | any[1])) return;
    for (int64_t i = 0; i < count; i++)
        if (one[i] == other[i])
            counts[i % LANES] += (exact_one[i] > exact_other[i]) + (exact_one[i] >= exact_other[i]);
}

/* Adds to counts, of each pair of rows, twice the permutations where the left one is above, and once those where they are
 * equal: of both metrics of all that are compared. Sums are compared as small integers, which they are rounded to without
 * a change of their order, and themselves where two of those are equal.
 *
 * Reads whole: float64[*, *, *], moved: float64[metrics, rows, permutations, 16], compared: int64[*, 2], left: int64[*],
 * right: int64[pairs]. Writes counts: int32[2, comparisons, pairs, 16]. */
KERNEL int64_t steelyard_exchanged_half_wins(const double *whole, const double *moved, int64_t metrics, int64_t rows,
                                             int64_t permutations, const int64_t *compared, int64_t comparisons,
                                             const int64_t *left, const int64_t *right, int64_t pairs,
                                             int32_t *restrict counts) {
    (void)metrics;
    size_t cells = (size_t)rows * TILE * LANES;
    double *exact = malloc(cells * sizeof *exact + 1);
    int16_t *rounded = malloc(cells * sizeof *rounded + 1);
    for (int64_t begin = 0; exact && rounded && begin < permutations; begin += TILE) {
        int64_t count = permutations - begin < TILE ? permutations - begin : TILE;
        for (int64_t number = 0; number < 2 * comparisons; number++) {
            const int64_t *both = compared + number % comparisons * 2;
            int64_t one = both[number / comparisons], other = both[1 - number / comparisons];
            double most = 0;
            for (int64_t row = 0; row < rows; row++) {
                int64_t own = (one * rows + row) * permutations + begin;
                int64_t theirs = (other * rows + row) * permutations + begin;
                mix(whole + own, moved + own * LANES, moved + theirs * LANES, count, exact + row * TILE * LANES, &most);
            }
            for (int64_t row = 0; row < rows; row++)
                round_all(exact + row * TILE * LANES, count * LANES, LARGEST / (most + 1e-9),
                          rounded + row * TILE * LANES);
            for (int64_t pair = 0; pair < pairs; pair++) {
                int64_t a = left[pair] * TILE * LANES, b = right[pair] * TILE * LANES;
                compare(rounded + a, rounded + b, exact + a, exact + b, count * LANES,
                        counts + (number * pairs + pair) * LANES);
            }
        }
    }
    int64_t status = exact && rounded ? 0 : OUT_OF_MEMORY;
    free(exact);
    free(rounded);
    return status;
}
