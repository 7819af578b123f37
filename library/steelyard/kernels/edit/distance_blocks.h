/* Levenshtein distances, 64 items of the reference at a time.
 *
 * Bit-parallel dynamic programming: Myers, "A fast bit-vector algorithm for approximate string matching based on
 * dynamic programming" (JACM 46, 1999), with the horizontal and vertical differences as Hyyro, "A bit-vector
 * algorithm for computing Levenshtein and Damerau edit distances" (Nordic Journal of Computing 10, 2003) has them.
 * Items are words or letters, numbered from 0.
 */
#ifndef DISTANCE_BLOCKS_H
#define DISTANCE_BLOCKS_H

#include <stdint.h>

enum { BITS = 64 };

/* Where each word of one block of the reference stands; slot 0 is every word that is not there. */
typedef struct {
    uint8_t *slot; /* by word */
    uint64_t matches[BITS + 1];
} Block;

static inline void set_block(Block *block, const int32_t *words, int64_t length) {
    int used = 0;
    block->matches[0] = 0;
    for (int64_t j = 0; j < length; j++) {
        uint8_t *slot = &block->slot[words[j]];
        if (!*slot) {
            *slot = (uint8_t)++used;
            block->matches[used] = 0;
        }
        block->matches[*slot] |= (uint64_t)1 << j;
    }
}

static inline void clear_block(Block *block, const int32_t *words, int64_t length) {
    for (int64_t j = 0; j < length; j++) block->slot[words[j]] = 0;
}

/* What the hypothesis's words change at the lower edge of a block: `edges` holds, for each word, by how much the
 * distance grows from the word before it to this one (-1, 0, 1), at the upper edge of the block when called, at
 * its last row afterwards. Returns the sum of the latter. */
static inline int64_t pass_block(const Block *block, int64_t rows, const int32_t *words, int64_t length,
                                 int8_t *edges) {
    uint64_t higher = ~(uint64_t)0, lower = 0; /* vertical differences +1 and -1 */
    int last = (int)rows - 1;
    int64_t sum = 0;
    for (int64_t i = 0; i < length; i++) {
        uint64_t match = block->matches[block->slot[words[i]]], above = edges[i] < 0;
        uint64_t vertical = match | lower;
        match |= above;
        uint64_t horizontal = (((match & higher) + higher) ^ higher) | match;
        uint64_t grows = lower | ~(horizontal | higher), shrinks = higher & horizontal;
        int edge = (int)(grows >> last & 1) - (int)(shrinks >> last & 1);
        grows = grows << 1 | (edges[i] > 0);
        shrinks = shrinks << 1 | above;
        higher = shrinks | ~(vertical | grows);
        lower = grows & vertical;
        edges[i] = (int8_t)edge;
        sum += edge;
    }
    return sum;
}
#endif
