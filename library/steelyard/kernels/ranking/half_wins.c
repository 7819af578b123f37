/* How often one row of numbers is above another, which is what p-values of permutation tests are counted of. */
#include "kernel.h"

#include <stdint.h>

/* Of each pair of rows twice the columns where the left one is above, and once those where they are equal.
 *
 * Reads rows: float64[*, *], left: int64[*], right: int64[pairs]. Writes counts: int64[pairs]. */
KERNEL int64_t steelyard_half_wins(const double *rows, int64_t columns, const int64_t *left, const int64_t *right,
                                   int64_t pairs, int64_t *counts) {
    for (int64_t pair = 0; pair < pairs; pair++) {
        const double *one = rows + left[pair] * columns, *other = rows + right[pair] * columns;
        int64_t count = 0;
        for (int64_t c = 0; c < columns; c++) count += (one[c] > other[c]) + (one[c] >= other[c]);
        counts[pair] = count;
    }
    return 0;
}
