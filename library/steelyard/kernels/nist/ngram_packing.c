/* Tables of n-grams as bytes and back. */
#include "kernel.h"
#include "ngram_stream.h"

#include <stdlib.h>
#include <string.h>

/*
 * A table: nodes in order, the first `types` of them words; children: of each node, whose children follow one another
 * behind those of the nodes before it. levels: where those of each length begin. packed: room for RECORD_BYTES more
 * than 13 bytes a node. Returns how many bytes are written, or -1 without memory.
 */
KERNEL int64_t steelyard_ngram_packed(const uint32_t *children, const uint32_t *words, const uint32_t *counts,
                                      const int64_t *levels, int64_t types, int64_t deepest, uint8_t *packed) {
    int64_t *next = malloc((size_t)deepest * sizeof *next);
    uint32_t *left = calloc((size_t)deepest, sizeof *left), *last = calloc((size_t)deepest, sizeof *last);
    uint8_t *to = packed;
    int64_t result = OUT_OF_MEMORY;
    if (!next || !left || !last) goto done;
    memcpy(next, levels, (size_t)deepest * sizeof *next);
    left[0] = (uint32_t)types;
    Place place = {ROOT, 0};
    for (int32_t depth = 0; depth >= 0;) {
        if (left[depth] == 0) {
            depth--;
            continue;
        }
        int64_t node = next[depth]++;
        left[depth]--;
        to = write_ngram(to, &place, last, depth, words[node], counts[node]);
        if (children[node]) left[++depth] = children[node];
    }
    result = write_end(to, &place) - packed;
done:
    free(next);
    free(left);
    free(last);
    return result;
}

/*
 * packed: what `ngram_packed` wrote, and RECORD_BYTES zeros. sizes: gets the nodes of each length. Where children is
 * not NULL, the three get the table, whose levels begin as `levels` says. Returns 0, -1 without memory, -2 for bytes
 * that it did not write.
 */
KERNEL int64_t steelyard_ngram_unpacked(const uint8_t *packed, int64_t size, int64_t types, int64_t deepest,
                                        int64_t *sizes, const int64_t *levels, uint32_t *children, uint32_t *words,
                                        uint32_t *counts) {
    const uint8_t *from = packed, *end = packed + size;
    uint32_t *last = calloc((size_t)deepest, sizeof *last);
    if (!last) return OUT_OF_MEMORY;
    int64_t result = -2;
    Place place = {ROOT, 0};
    memset(sizes, 0, (size_t)deepest * sizeof *sizes);
    while (from < end) {
        from = read_ngram(from, &place, last, (int32_t)deepest, (uint32_t)types);
        if (place.depth < 0) break;
        int64_t depth = place.depth, number = sizes[depth]++;
        /* Every word is there, so that a word's number is that of its node. */
        if (place.count == 0 || (depth == 0 && last[0] != number)) break;
        if (!children) continue;
        int64_t node = levels[depth] + number;
        if (depth) children[levels[depth - 1] + sizes[depth - 1] - 1]++;
        children[node] = 0;
        words[node] = last[depth];
        counts[node] = place.count;
    }
    if (place.depth == ENDED && from == end && sizes[0] == types) result = 0;
    free(last);
    return result;
}
