/* How many words a hypothesis shares with a reference, whatever their order. */
#include "kernel.h"

#include <stdint.h>
#include <stdlib.h>

/*
 * out: (references, systems, segments), -1 where present (references, segments) is 0. Rows of `starts`: references,
 * then systems. Words are 0 to types - 1. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments]. Writes out: int64[references, systems, segments].
 */
KERNEL int64_t steelyard_bag_overlaps(const int32_t *ids, const int64_t *starts, const uint8_t *present, int64_t types,
                                      int64_t references, int64_t systems, int64_t segments, int64_t *out) {
    int64_t *left = calloc((size_t)types + 1, sizeof *left); /* occurrences in the reference not yet matched */
    if (!left) return OUT_OF_MEMORY;
    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            int64_t *overlaps = out + r * systems * segments + i;
            for (int64_t s = 0; s < systems; s++) overlaps[s * segments] = present[r * segments + i] ? 0 : -1;
            if (!present[r * segments + i]) continue;
            for (int64_t at = row[0]; at < row[1]; at++) left[ids[at]]++;
            for (int64_t s = 0; s < systems; s++) {
                const int64_t *other = starts + (references + s) * segments + i;
                int64_t overlap = 0;
                for (int64_t at = other[0]; at < other[1]; at++) overlap += left[ids[at]]-- > 0;
                for (int64_t at = other[0]; at < other[1]; at++) left[ids[at]]++;
                overlaps[s * segments] = overlap;
            }
            for (int64_t at = row[0]; at < row[1]; at++) left[ids[at]] = 0;
        }
    }
    free(left);
    return 0;
}
