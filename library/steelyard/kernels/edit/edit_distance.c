/* Levenshtein distances between references and hypotheses. The bits where each word stands in the reference are set
 * once and serve all systems. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "myers.h"

static size_t words_of_systems(const int64_t *starts, int64_t references, int64_t systems, int64_t segments,
                               int64_t segment) {
    size_t words = 0;
    for (int64_t text = references; text < references + systems; text++) {
        const int64_t *row = starts + text * segments + segment;
        words += (size_t)(row[1] - row[0]);
    }
    return words;
}

/*
 * out: (references, systems, segments), -1 where present (references, segments) is 0. Rows of `starts`: references,
 * then systems. Words are 0 to types - 1. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments]. Writes out: int64[references, systems, segments].
 */
KERNEL int64_t steelyard_edit_distances(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                        int64_t types, int64_t references, int64_t systems, int64_t segments,
                                        int64_t *out) {
    size_t most = 0;
    for (int64_t i = 0; i < segments; i++) {
        size_t words = words_of_systems(starts, references, systems, segments, i);
        if (words > most) most = words;
    }
    Columns columns = {.slot = calloc((size_t)types + 1, 1)};
    int8_t *edges = malloc(most + 1);
    int64_t result = OUT_OF_MEMORY;
    if (!columns.slot || !edges) goto done;

    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            const int32_t *reference = ids + row[0];
            int64_t length = row[1] - row[0], *distances = out + r * systems * segments + i;
            for (int64_t s = 0; s < systems; s++) {
                const int64_t *other = starts + (references + s) * segments + i;
                distances[s * segments] = present[r * segments + i] ? other[1] - other[0] : -1;
            }
            if (!present[r * segments + i]) continue;
            if (length > WORD_BITS) memset(edges, 1, words_of_systems(starts, references, systems, segments, i));
            for (int64_t begin = 0; begin < length; begin += WORD_BITS) {
                int64_t count = smaller(length - begin, WORD_BITS);
                int8_t *edge = edges;
                set_columns(&columns, reference + begin, count);
                for (int64_t s = 0; s < systems; s++) {
                    const int64_t *other = starts + (references + s) * segments + i;
                    int64_t words = other[1] - other[0];
                    BitRow last = length > WORD_BITS
                                      ? pass_rows_between(&columns, ids + other[0], words, edge)
                                      : pass_rows(&columns, ids + other[0], words);
                    distances[s * segments] += across(&last, count);
                    edge += words;
                }
                clear_columns(&columns, reference + begin, count);
            }
        }
    }
    result = 0;
done:
    free(columns.slot);
    free(edges);
    return result;
}
