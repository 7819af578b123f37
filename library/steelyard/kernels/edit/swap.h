/* A block of words that moves: the words [begin, middle) and [middle, end) change places. */
#ifndef SWAP_H
#define SWAP_H

#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t begin, middle, end;
} Swap;

/* `scratch` has room for the words of the first part. */
static inline void swap_words(int32_t *words, Swap swap, int32_t *scratch) {
    int32_t *begin = words + swap.begin;
    int64_t left = swap.middle - swap.begin, right = swap.end - swap.middle;
    memcpy(scratch, begin, (size_t)left * sizeof *begin);
    memmove(begin, begin + left, (size_t)right * sizeof *begin);
    memcpy(begin + right, scratch, (size_t)left * sizeof *begin);
}
#endif
