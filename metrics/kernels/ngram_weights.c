/* What the n-grams of a table say: each is known by how often it and its context, the words before its last, occur. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A table: nodes in order, the first `types` of them words; children: of each node, whose children follow one another
 * behind those of the nodes before it; total: of all words, which is the context of each. pairs: of each node the number
 * of its pair of counts, its context's and its own; context, own: of each pair, room for `nodes`. Equal pairs have one
 * number, so that few logarithms are to be taken. Returns how many pairs there are, or -1 without memory.
 */
int64_t ngram_pairs(const uint32_t *children, const uint32_t *counts, int64_t types, int64_t nodes, int64_t total,
                    int32_t *pairs, int64_t *context, int64_t *own) {
    uint64_t size = 16;
    while (size < 2 * (uint64_t)nodes) size *= 2;
    int32_t *slots = malloc(size * sizeof *slots);
    if (!slots || nodes >= INT32_MAX) {
        free(slots);
        return -1;
    }
    memset(slots, 0xFF, size * sizeof *slots);
    int64_t used = 0, parent = -1, left = types;
    for (int64_t node = 0; node < nodes; node++) {
        while (left == 0) left = children[++parent];
        left--;
        int64_t its_context = parent < 0 ? total : counts[parent];
        uint64_t hash = ((uint64_t)its_context << 32 ^ counts[node]) * 0x9E3779B97F4A7C15u, slot = (hash ^ hash >> 32);
        for (slot &= size - 1; slots[slot] >= 0; slot = (slot + 1) & (size - 1))
            if (context[slots[slot]] == its_context && own[slots[slot]] == counts[node]) break;
        if (slots[slot] < 0) {
            context[used] = its_context;
            own[used] = counts[node];
            slots[slot] = (int32_t)used++;
        }
        pairs[node] = slots[slot];
    }
    free(slots);
    return used;
}
