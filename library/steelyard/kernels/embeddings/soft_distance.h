/* Levenshtein distance in which similar words cost less than a whole substitution. */
#ifndef SOFT_DISTANCE_H
#define SOFT_DISTANCE_H

#include <stdint.h>

enum { EDIT = 1 << 24 }; /* an insertion or a deletion; costs are in parts of it, so that their sums are exact */

/*
 * The least sum of costs. rows: for each of m hypothesis words what it costs to put each of n reference words in its
 * place, at most `most`. last: room for n + 1 numbers.
 */
static int64_t soft_distance(const int32_t *const *rows, int64_t m, int64_t n, int32_t most, int64_t *last) {
    for (int64_t j = 0; j <= n; j++) last[j] = j * EDIT;
    for (int64_t i = 0; i < m; i++) {
        const int32_t *costs = rows[i];
        int64_t diagonal = last[0], left = last[0] += EDIT;
        for (int64_t j = 0; j < n; j++) {
            int64_t above = last[j + 1], cost = costs[j] < most ? costs[j] : most;
            int64_t least = (above < left ? above : left) + EDIT;
            left = diagonal + cost < least ? diagonal + cost : least;
            last[j + 1] = left;
            diagonal = above;
        }
    }
    return last[n];
}
#endif
