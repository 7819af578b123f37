/* Sums of ranks of the systems of each segment, of which Spearman's rho is made. */
#include "kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Twice the distance of each rank from the mean rank: how many cells of the segment are below, less how many are above.
 * scores and ranks are (systems, segments); NaN, where there is no score, is neither and has no rank. */
static void rank_cells(const double *scores, int64_t systems, int64_t segments, int32_t *restrict ranks) {
    memset(ranks, 0, (size_t)(systems * segments) * sizeof *ranks);
    for (int64_t a = 0; a < systems; a++) {
        const double *one = scores + a * segments;
        int32_t *restrict of_one = ranks + a * segments;
        for (int64_t b = a + 1; b < systems; b++) {
            const double *other = scores + b * segments;
            int32_t *restrict of_other = ranks + b * segments;
            for (int64_t s = 0; s < segments; s++) {
                int32_t above = (one[s] > other[s]) - (one[s] < other[s]);
                of_one[s] += above;
                of_other[s] -= above;
            }
        }
    }
}

/* Of each segment the sums of x y, x x and y y, (3, segments), where x and y are twice the distances of the ranks of human
 * and metric from their means. Both are (systems, segments), NaN in the same cells; `room` is (2, systems, segments).
 *
 * Reads human: float64[systems, segments], metric: float64[systems, segments]. Writes
 * room: int32[2, systems, segments], sums: int64[3, segments]. */
KERNEL int64_t steelyard_rank_sums(const double *human, const double *metric, int64_t systems, int64_t segments,
                                   int32_t *room, int64_t *sums) {
    int32_t *x = room, *y = room + systems * segments;
    rank_cells(human, systems, segments, x);
    rank_cells(metric, systems, segments, y);
    memset(sums, 0, (size_t)(3 * segments) * sizeof *sums);
    for (int64_t a = 0; a < systems; a++, x += segments, y += segments) {
        for (int64_t s = 0; s < segments; s++) {
            sums[s] += (int64_t)x[s] * y[s];
            sums[segments + s] += (int64_t)x[s] * x[s];
            sums[2 * segments + s] += (int64_t)y[s] * y[s];
        }
    }
    return 0;
}
