/* Pairs of systems in the same segment: counted by kind, and as steps of tie calibration. See pairs.py.
 *
 * A step is a pair that becomes a tie of the metric as epsilon grows. It changes the sum of a segment by the share that
 * one pair has there: upwards where people find the pair equal, downwards where both sides parted it alike. Steps are in
 * the order of their distances; those of one distance belong together, so that only the sum behind the last one counts.
 */
#include "kernel.h"

#include <math.h>
#include <stdint.h>

enum { LANES = 64 /* trials or replicates worked on side by side */ };
/* Adds to counts (5, segments) the pairs that are concordant, discordant, tied by people, by the metric, by both. human and
 * metric are (systems, segments).
 *
 * Reads human: float64[*, *], metric: float64[systems, segments]. Writes counts: int32[5, segments]. */
KERNEL int64_t steelyard_count_pairs(const double *human, const double *metric, int64_t systems, int64_t segments,
                                     double more_than, int32_t *restrict counts) {
    int32_t *restrict concordant = counts, *restrict discordant = counts + segments;
    int32_t *restrict tied_human = counts + 2 * segments, *restrict tied_metric = counts + 3 * segments;
    int32_t *restrict tied_both = counts + 4 * segments;
    for (int64_t a = 0; a < systems; a++)
        for (int64_t b = a + 1; b < systems; b++)
            for (int64_t s = 0; s < segments; s++) {
                double by_human = human[a * segments + s] - human[b * segments + s];
                double by_metric = metric[a * segments + s] - metric[b * segments + s];
                /* Neither is NaN, which is not equal to itself, nor above anything. */
                int32_t counted = (fabs(by_human) > more_than) & (by_metric == by_metric);
                int32_t same = ((by_human > 0) & (by_metric > 0)) | ((by_human < 0) & (by_metric < 0));
                int32_t human_parts = by_human != 0, metric_parts = by_metric != 0;
                concordant[s] += counted & same;
                discordant[s] += counted & human_parts & metric_parts & (same ^ 1);
                tied_human[s] += counted & (human_parts ^ 1) & metric_parts;
                tied_metric[s] += counted & human_parts & (metric_parts ^ 1);
                tied_both[s] += counted & ((human_parts | metric_parts) ^ 1);
            }
    return 0;
}

/* Replicates: worth (segments, LANES) is what a pair of the segment counts in each. Goes on from sums and best (LANES)
 * and from at, the number of the step where the best was found; `number` is that of the first step here.
 *
 * Reads segment: int32[*], upwards: uint8[steps], last: uint8[steps], worth: int64[*, 64]. Writes sums: int64[64],
 * best: int64[64], at: int64[64]. */
KERNEL int64_t steelyard_calibrate_drawn(const int32_t *segment, const uint8_t *upwards, const uint8_t *last,
                                         int64_t steps, const int64_t *worth, int64_t number, int64_t *sums,
                                         int64_t *best, int64_t *at) {
    int rising = 0;
    for (int64_t i = 0; i < steps; i++) {
        const int64_t *change = worth + (int64_t)segment[i] * LANES;
        if (upwards[i])
            for (int t = 0; t < LANES; t++) sums[t] += change[t];
        else
            for (int t = 0; t < LANES; t++) sums[t] -= change[t];
        rising |= upwards[i];
        if (!last[i] || !rising) continue;
        rising = 0;
        for (int t = 0; t < LANES; t++)
            if (sums[t] > best[t]) {
                best[t] = sums[t];
                at[t] = number + i;
            }
    }
    return 0;
}
