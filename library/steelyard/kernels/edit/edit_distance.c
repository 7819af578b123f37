/* Levenshtein distances between references and hypotheses. The bits where each word stands in the reference are set
 * once and serve all systems. */
#include <stdlib.h>
#include <string.h>

#include "distance_blocks.h"
#include "kernel.h"

/* As pass_block for a reference of a single block: each word of the hypothesis costs 1 at the upper edge. */
static int64_t pass_only_block(const Block *block, int64_t rows, const int32_t *words, int64_t length) {
    uint64_t higher = ~(uint64_t)0, lower = 0;
    int last = (int)rows - 1;
    int64_t sum = 0;
    for (int64_t i = 0; i < length; i++) {
        uint64_t match = block->matches[block->slot[words[i]]];
        uint64_t vertical = match | lower;
        uint64_t horizontal = (((match & higher) + higher) ^ higher) | match;
        uint64_t grows = lower | ~(horizontal | higher), shrinks = higher & horizontal;
        sum += (int64_t)(grows >> last & 1) - (int64_t)(shrinks >> last & 1);
        grows = grows << 1 | 1;
        higher = shrinks << 1 | ~(vertical | grows);
        lower = grows & vertical;
    }
    return sum;
}

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
 */
KERNEL int64_t steelyard_edit_distances(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                        int64_t types, int64_t references, int64_t systems, int64_t segments,
                                        int64_t *out) {
    size_t most = 0;
    for (int64_t i = 0; i < segments; i++) {
        size_t words = words_of_systems(starts, references, systems, segments, i);
        if (words > most) most = words;
    }
    Block block = {.slot = calloc((size_t)types + 1, 1)};
    int8_t *edges = malloc(most + 1);
    int64_t result = OUT_OF_MEMORY;
    if (!block.slot || !edges) goto done;

    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            const int32_t *reference = ids + row[0];
            int64_t length = row[1] - row[0], *distances = out + r * systems * segments + i;
            for (int64_t s = 0; s < systems; s++) distances[s * segments] = present[r * segments + i] ? length : -1;
            if (!present[r * segments + i]) continue;
            if (length > BITS) memset(edges, 1, words_of_systems(starts, references, systems, segments, i));
            for (int64_t begin = 0; begin < length || begin == 0; begin += BITS) {
                int64_t rows = length - begin < BITS ? length - begin : BITS;
                int8_t *edge = edges;
                set_block(&block, reference + begin, rows);
                for (int64_t s = 0; s < systems; s++) {
                    const int64_t *other = starts + (references + s) * segments + i;
                    const int32_t *hypothesis = ids + other[0];
                    int64_t words = other[1] - other[0], sum = words;
                    if (length > BITS) sum = pass_block(&block, rows, hypothesis, words, edge);
                    else if (length) sum = pass_only_block(&block, rows, hypothesis, words);
                    if (begin + rows == length) distances[s * segments] += sum;
                    edge += words;
                }
                clear_block(&block, reference + begin, rows);
            }
        }
    }
    result = 0;
done:
    free(block.slot);
    free(edges);
    return result;
}
