/* How many replicates of a bootstrap differ from their mean by as much as two systems do. See bootstrap_pairs.py. */
#include "kernel.h"

#include <math.h>
#include <stdint.h>

enum {
    LANES = 8,       /* replicates worked on side by side; their sums are added in this order on every processor */
    UNDEFINED = -1,  /* a difference is undefined, or all are one same number that is not 0 */
    UNDECIDED = -2   /* some lie so near that the last digits of the mean would decide */
};

typedef struct {
    double sum, low, high;
} Extent;

/* The sum, the least and the largest of b - a. */
static Extent extent_of(const double *a, const double *b, int64_t count) {
    double sum[LANES] = {0}, low[LANES], high[LANES];
    int64_t r = 0;
    for (int lane = 0; lane < LANES; lane++) low[lane] = high[lane] = b[0] - a[0];
    for (; r + LANES <= count; r += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double d = b[r + lane] - a[r + lane];
            sum[lane] += d;
            low[lane] = d < low[lane] ? d : low[lane];
            high[lane] = d > high[lane] ? d : high[lane];
        }
    for (int lane = 0; r < count; r++, lane++) {
        double d = b[r] - a[r];
        sum[lane] += d;
        low[lane] = d < low[lane] ? d : low[lane];
        high[lane] = d > high[lane] ? d : high[lane];
    }
    Extent all = {sum[0], low[0], high[0]};
    for (int lane = 1; lane < LANES; lane++) {
        all.sum += sum[lane];
        all.low = low[lane] < all.low ? low[lane] : all.low;
        all.high = high[lane] > all.high ? high[lane] : all.high;
    }
    return all;
}

static int64_t count_as_large(const double *a, const double *b, int64_t count, double difference) {
    if (count < 1) return UNDEFINED;
    Extent all = extent_of(a, b, count);
    /* A NaN among the replicates makes their sum NaN. */
    if (difference != difference || all.sum != all.sum) return UNDEFINED;
    if (difference == 0) return count;
    if (all.low == all.high) return UNDEFINED;
    double apart = fabs(difference), mean = all.sum / (double)count;
    double largest = fmax(apart, fmax(-all.low, all.high));
    double larger[LANES] = {0}, nearest[LANES];
    for (int lane = 0; lane < LANES; lane++) nearest[lane] = INFINITY;
    int64_t r = 0;
    for (; r + LANES <= count; r += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double beyond = fabs(b[r + lane] - a[r + lane] - mean) - apart;
            larger[lane] += beyond >= 0 ? 1.0 : 0.0;
            nearest[lane] = fabs(beyond) < nearest[lane] ? fabs(beyond) : nearest[lane];
        }
    for (int lane = 0; r < count; r++, lane++) {
        double beyond = fabs(b[r] - a[r] - mean) - apart;
        larger[lane] += beyond >= 0 ? 1.0 : 0.0;
        nearest[lane] = fabs(beyond) < nearest[lane] ? fabs(beyond) : nearest[lane];
    }
    /* Four times what adding so many numbers may be off. */
    double slack = 4 * (double)count * 0x1p-52 * largest, found = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (!(nearest[lane] > slack)) return UNDECIDED;
        found += larger[lane];
    }
    return (int64_t)found;
}

/* Of each pair the number of replicates whose difference, moved by their mean, is at least as large as that of the scores,
 * or why there is none. pairs are rows of scores and replicates.
 *
 * Reads scores: float64[systems], replicates: float64[*, *], pairs: int64[*, 2]. Writes counts: int64[count]. */
KERNEL int64_t steelyard_bootstrap_pairs(const double *scores, const double *replicates, int64_t systems, int64_t drawn,
                                         const int64_t *pairs, int64_t count, int64_t *restrict counts) {
    (void)systems;
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t a = pairs[2 * pair], b = pairs[2 * pair + 1];
        counts[pair] = count_as_large(replicates + a * drawn, replicates + b * drawn, drawn, scores[b] - scores[a]);
    }
    return 0;
}
