/* Tie calibration of two metrics that exchange scores, in many trials at once. See exchanged_calibration.py.
 *
 * A step is a pair of cells that becomes a tie of the metric as epsilon grows (pairs.c). A pair of systems in a segment has
 * four of them: each of its cells has the score of either metric. The score of a trial is its best sum behind the last
 * step of a distance. Most distances are far from the best ones, so that steps are not put in order: they are dealt into
 * ranges of distances, what a range changes is counted in 256 trials at a time with numbers whose bits lie in different
 * words, and only in ranges where the best sum may lie are the steps sorted and followed one by one.
 */
#include "kernel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 4,           /* of 64 trials, worked on side by side */
    LANES = 64 * WORDS,
    RANGES = 1024,
    PLANES = 32,         /* bits of a count */
    DIRECTIONS = 2,      /* downwards, upwards */
    SIDES = 2            /* the sums of the first metric, of the second one */
};

typedef struct {
    int32_t cells[2]; /* what a cell has after the exchange is `cells` further on */
} Step;

typedef struct {
    double distance;
    Step step;
    int32_t upwards;
} Sorted;

typedef struct {
    const double *human, *scores[2];
    int64_t systems, segments;
    const int64_t *order; /* segments of one share side by side */
    double per_distance;
} Pairs;

static int64_t range_of(const Pairs *pairs, double distance) {
    double range = distance * pairs->per_distance;
    return range < RANGES - 1 ? (int64_t)range : RANGES - 1;
}

/* Counts the steps of each range and direction; or, with steps, puts those of the ranges from `first` to before `last`
 * where `places` says, which it moves on. */
static void deal(const Pairs *pairs, int64_t *places, Step *steps, int64_t first, int64_t last) {
    int64_t cells = pairs->systems * pairs->segments;
    for (int64_t k = 0; k < pairs->segments; k++) {
        int64_t segment = pairs->order[k];
        for (int64_t a = 0; a < pairs->systems; a++) {
            int64_t one = a * pairs->segments + segment;
            if (isnan(pairs->human[one]) || isnan(pairs->scores[0][one])) continue;
            for (int64_t b = a + 1; b < pairs->systems; b++) {
                int64_t other = b * pairs->segments + segment;
                double by_human = pairs->human[one] - pairs->human[other];
                if (isnan(by_human)) continue;
                for (int state = 0; state < 4; state++) {
                    double by_metric = pairs->scores[state >> 1][one] - pairs->scores[state & 1][other];
                    /* A pair that only one side parts, or both do the other way round, is wrong before and after. */
                    int upwards = by_human == 0;
                    if (!(upwards ? by_metric == by_metric : by_human > 0 ? by_metric > 0 : by_metric < 0)) continue;
                    int64_t range = range_of(pairs, fabs(by_metric));
                    int64_t *place = places + range * DIRECTIONS + upwards;
                    if (!steps) {
                        ++*place;
                    } else if (range >= first && range < last) {
                        Step *step = steps + (*place)++;
                        step->cells[0] = (int32_t)(one + (state >> 1) * cells);
                        step->cells[1] = (int32_t)(other + (state & 1) * cells);
                    }
                }
            }
        }
    }
}

/* Numbers, one for each lane, whose bits lie in different words. */
typedef struct {
    uint64_t planes[PLANES][WORDS];
    int used;
} Counter;

static inline void ripple(Counter *counter, uint64_t *carry, int plane) {
    for (;; plane++) {
        if (plane == counter->used) {
            memset(counter->planes[plane], 0, sizeof counter->planes[plane]);
            counter->used++;
        }
        uint64_t any = 0;
        for (int w = 0; w < WORDS; w++) {
            uint64_t both = counter->planes[plane][w] & carry[w];
            counter->planes[plane][w] ^= carry[w];
            carry[w] = both;
            any |= both;
        }
        if (!any) return;
    }
}

/* One, and how many twos it makes with two more. */
static inline void add_two(uint64_t *ones, const uint64_t *a, const uint64_t *b, uint64_t *twos) {
    for (int w = 0; w < WORDS; w++) {
        uint64_t either = ones[w] ^ a[w];
        twos[w] = (ones[w] & a[w]) | (either & b[w]);
        ones[w] = either ^ b[w];
    }
}

/* The trials in which a step belongs to the sums of the first metric, and of the second one. */
static inline void masks_of(const Step *step, const uint64_t *states, uint64_t *first, uint64_t *second) {
    const uint64_t *a = states + (int64_t)step->cells[0] * WORDS, *b = states + (int64_t)step->cells[1] * WORDS;
    for (int w = 0; w < WORDS; w++) {
        first[w] = a[w] & b[w];
        second[w] = ~(a[w] | b[w]);
    }
}

static void count(const Step *steps, int64_t number, const uint64_t *states, Counter counters[SIDES]) {
    uint64_t ones[SIDES][WORDS] = {{0}}, twos[SIDES][WORDS] = {{0}}, fours[SIDES][WORDS] = {{0}};
    for (int side = 0; side < SIDES; side++) {
        counters[side].used = 3;
        memset(counters[side].planes, 0, 3 * sizeof counters[side].planes[0]);
    }
    int64_t i = 0;
    for (; i + 8 <= number; i += 8) {
        uint64_t masks[SIDES][8][WORDS];
        for (int k = 0; k < 8; k++) masks_of(steps + i + k, states, masks[0][k], masks[1][k]);
        for (int side = 0; side < SIDES; side++) {
            uint64_t two[2][WORDS], four[2][WORDS], eights[WORDS];
            for (int half = 0; half < 2; half++) {
                add_two(ones[side], masks[side][4 * half], masks[side][4 * half + 1], two[0]);
                add_two(ones[side], masks[side][4 * half + 2], masks[side][4 * half + 3], two[1]);
                add_two(twos[side], two[0], two[1], four[half]);
            }
            add_two(fours[side], four[0], four[1], eights);
            ripple(&counters[side], eights, 3);
        }
    }
    for (int side = 0; side < SIDES; side++) {
        memcpy(counters[side].planes[0], ones[side], sizeof ones[side]);
        memcpy(counters[side].planes[1], twos[side], sizeof twos[side]);
        memcpy(counters[side].planes[2], fours[side], sizeof fours[side]);
    }
    for (; i < number; i++) {
        uint64_t masks[SIDES][WORDS];
        masks_of(steps + i, states, masks[0], masks[1]);
        for (int side = 0; side < SIDES; side++) ripple(&counters[side], masks[side], 0);
    }
}

/* Adds worth times the count of each lane. */
static void add_counts(const Counter *counter, int64_t worth, int64_t *sums) {
    for (int w = 0; w < WORDS; w++)
        for (int byte = 0; byte < 8; byte++) {
            int64_t *lanes = sums + w * 64 + byte * 8;
            for (int begin = 0; begin < counter->used; begin += 8) {
                int end = begin + 8 < counter->used ? begin + 8 : counter->used;
                uint64_t spread = 0;
                for (int plane = begin; plane < end; plane++) {
                    uint64_t bits = counter->planes[plane][w] >> (8 * byte) & 0xff;
                    /* Bit k of the byte comes to stand in byte k. */
                    bits = (bits * 0x0101010101010101u & 0x8040201008040201u) + 0x7f7f7f7f7f7f7f7fu;
                    /* A byte with its bit has carried into its own highest place; 0x80 itself had it already. */
                    spread |= (bits >> 7 & 0x0101010101010101u) << (plane - begin);
                }
                for (int k = 0; k < 8; k++) lanes[k] += worth * (int64_t)((spread >> (8 * k) & 0xff) << begin);
            }
        }
}

/* What the steps of a range change in each lane: all of one direction, a share at a time. */
static void change(const Pairs *pairs, const Step *steps, int64_t number, const int64_t *share,
                   const uint64_t *states, int64_t *sums) {
    Counter counters[SIDES];
    memset(sums, 0, SIDES * LANES * sizeof *sums);
    for (int64_t begin = 0, end; begin < number; begin = end) {
        int64_t worth = share[steps[begin].cells[0] % pairs->segments];
        /* Segments of one share stand side by side, so that the last one tells in most cases. */
        if (share[steps[number - 1].cells[0] % pairs->segments] == worth) end = number;
        else
            for (end = begin + 1; end < number && share[steps[end].cells[0] % pairs->segments] == worth;) end++;
        count(steps + begin, end - begin, states, counters);
        for (int side = 0; side < SIDES; side++) add_counts(&counters[side], worth, sums + side * LANES);
    }
}

static int by_distance(const void *a, const void *b) {
    double x = ((const Sorted *)a)->distance, y = ((const Sorted *)b)->distance;
    return (x > y) - (x < y);
}

static double distance_of(const Pairs *pairs, const Step *step) {
    int64_t cells = pairs->systems * pairs->segments;
    double values[2];
    for (int k = 0; k < 2; k++) values[k] = pairs->scores[step->cells[k] / cells][step->cells[k] % cells];
    return fabs(values[0] - values[1]);
}

/* Follows the steps of a range in the order of their distances, in the lanes of `wanted`; sums are those before. */
static void follow(const Sorted *sorted, int64_t number, const Pairs *pairs, const int64_t *share,
                   const uint64_t *states, uint64_t wanted[SIDES][WORDS], int64_t *sums, int64_t *best) {
    uint64_t risen[SIDES][WORDS] = {{0}};
    for (int64_t i = 0; i < number; i++) {
        uint64_t masks[SIDES][WORDS];
        masks_of(&sorted[i].step, states, masks[0], masks[1]);
        int64_t worth = share[sorted[i].step.cells[0] % pairs->segments];
        if (!sorted[i].upwards) worth = -worth;
        int last = i + 1 == number || sorted[i + 1].distance != sorted[i].distance;
        for (int side = 0; side < SIDES; side++)
            for (int w = 0; w < WORDS; w++) {
                int64_t *own = sums + side * LANES + w * 64, *most = best + side * LANES + w * 64;
                uint64_t mask = masks[side][w] & wanted[side][w];
                if (sorted[i].upwards) risen[side][w] |= mask;
                for (; mask; mask &= mask - 1) own[__builtin_ctzll(mask)] += worth;
                if (!last) continue;
                for (mask = risen[side][w]; mask; mask &= mask - 1) {
                    int t = __builtin_ctzll(mask);
                    if (own[t] > most[t]) most[t] = own[t];
                }
                risen[side][w] = 0;
            }
    }
}

typedef struct {
    Step *steps;
    Sorted *sorted;
    int64_t *before, *rises; /* of each range and lane: the sums before it, and what it adds at most */
    uint64_t *states;
} Room;

/* All lanes of one block of words. */
static void calibrate(const Pairs *pairs, const int64_t *bounds, const int64_t *share, Room *room, int64_t *sums,
                      int64_t *best) {
    memset(sums, 0, SIDES * LANES * sizeof *sums);
    memset(best, 0, SIDES * LANES * sizeof *best);
    for (int64_t range = 0; range < RANGES; range++) {
        const int64_t *from = bounds + range * DIRECTIONS;
        int64_t falls[SIDES * LANES], *before = room->before + range * SIDES * LANES;
        int64_t *rises = room->rises + range * SIDES * LANES;
        memcpy(before, sums, SIDES * LANES * sizeof *sums);
        if (from[0] == from[2]) continue;
        change(pairs, room->steps + from[0], from[1] - from[0], share, room->states, falls);
        change(pairs, room->steps + from[1], from[2] - from[1], share, room->states, rises);
        for (int t = 0; t < SIDES * LANES; t++) {
            sums[t] += rises[t] - falls[t];
            if (sums[t] > best[t]) best[t] = sums[t];
        }
    }
    for (int64_t range = 0; range < RANGES; range++) {
        const int64_t *from = bounds + range * DIRECTIONS;
        int64_t *before = room->before + range * SIDES * LANES, number = from[2] - from[0];
        const int64_t *rises = room->rises + range * SIDES * LANES;
        /* Without a step upwards nothing rises above what was before. */
        if (from[1] == from[2]) continue;
        uint64_t wanted[SIDES][WORDS] = {{0}}, any = 0;
        for (int t = 0; t < SIDES * LANES; t++) {
            uint64_t may = before[t] + rises[t] > best[t];
            wanted[t / LANES][t % LANES / 64] |= may << (t % 64);
            any |= may;
        }
        if (!any) continue;
        for (int64_t i = 0; i < number; i++) {
            const Step *step = room->steps + from[0] + i;
            room->sorted[i] = (Sorted){distance_of(pairs, step), *step, from[0] + i >= from[1]};
        }
        qsort(room->sorted, (size_t)number, sizeof *room->sorted, by_distance);
        follow(room->sorted, number, pairs, share, room->states, wanted, before, best);
    }
}

/* The most that two scores of one segment differ by. */
static double largest(const Pairs *pairs) {
    double found = 0;
    for (int64_t segment = 0; segment < pairs->segments; segment++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t a = 0; a < pairs->systems; a++)
            for (int k = 0; k < 2; k++) {
                double score = pairs->scores[k][a * pairs->segments + segment];
                if (score < least) least = score;
                if (score > most) most = score;
            }
        if (most - least > found) found = most - least;
    }
    return found;
}

/* swapped has for each word of trials, and each cell, 64 bits that say in which of them the metrics exchange their scores.
 * share is what a pair of each segment counts, order has the segments of one share side by side.
 *
 * Reads human: float64[*, *], first: float64[systems, segments], second: float64[systems, segments],
 * order: int64[segments], share: int64[segments], swapped: uint64[*, systems * segments].
 * Writes sums: int64[2, words, 64], best: int64[2, words, 64]. */
KERNEL int64_t steelyard_exchanged_calibration(const double *human, const double *first, const double *second,
                                               int64_t systems, int64_t segments, const int64_t *order,
                                               const int64_t *share, const uint64_t *swapped, int64_t words,
                                               int64_t *sums, int64_t *best) {
    Pairs pairs = {human, {first, second}, systems, segments, order, 0};
    double most = largest(&pairs);
    pairs.per_distance = most > 0 && isfinite(RANGES / most) ? RANGES / most : 0;
    int64_t cells = systems * segments, places[RANGES * DIRECTIONS + 1] = {0}, bounds[RANGES * DIRECTIONS + 1] = {0};
    deal(&pairs, places, NULL, 0, 0);
    int64_t longest = 0;
    for (int64_t i = 0; i < RANGES * DIRECTIONS; i++) {
        bounds[i + 1] = bounds[i] + places[i];
        places[i] = bounds[i];
        if (i % DIRECTIONS && bounds[i + 1] - bounds[i - 1] > longest) longest = bounds[i + 1] - bounds[i - 1];
    }
    size_t lanes = (size_t)RANGES * SIDES * LANES;
    Room room = {malloc((size_t)bounds[RANGES * DIRECTIONS] * sizeof(Step) + 1),
                 malloc((size_t)longest * sizeof(Sorted) + 1), malloc(lanes * sizeof(int64_t)), calloc(lanes, sizeof(int64_t)),
                 malloc((size_t)cells * 2 * WORDS * sizeof(uint64_t) + 1)};
    int64_t status = room.steps && room.sorted && room.before && room.rises && room.states ? 0 : OUT_OF_MEMORY;
    if (!status) deal(&pairs, places, room.steps, 0, RANGES);
    for (int64_t begin = 0; !status && begin < words; begin += WORDS) {
        int64_t block_sums[SIDES * LANES], block_best[SIDES * LANES];
        int64_t here = words - begin < WORDS ? words - begin : WORDS;
        for (int64_t cell = 0; cell < cells; cell++)
            for (int64_t w = 0; w < WORDS; w++) {
                uint64_t bits = w < here ? swapped[(begin + w) * cells + cell] : 0;
                room.states[cell * WORDS + w] = ~bits;
                room.states[(cells + cell) * WORDS + w] = bits;
            }
        calibrate(&pairs, bounds, share, &room, block_sums, block_best);
        for (int side = 0; side < SIDES; side++) {
            size_t size = (size_t)here * 64 * sizeof *sums;
            memcpy(sums + (side * words + begin) * 64, block_sums + side * LANES, size);
            memcpy(best + (side * words + begin) * 64, block_best + side * LANES, size);
        }
    }
    free(room.steps);
    free(room.sorted);
    free(room.before);
    free(room.rises);
    free(room.states);
    return status;
}
