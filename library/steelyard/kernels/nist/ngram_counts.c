/* How often a text has each of its n-grams, as a trie in order. */
#include "comparing.h"
#include "kernel.h"

#include <string.h>

static inline int64_t shared_prefix(const int32_t *words, const uint8_t *room, int32_t one, int32_t other) {
    int64_t common = 0, most = smaller(room[one], room[other]);
    while (common < most && words[one + common] == words[other + common]) common++;
    return common;
}

/*
 * words: numbers from 0 to types - 1 of all rows; row r is starts[r] to starts[r + 1], and no n-gram spans two rows.
 *
 * The places of the text are sorted by the up to `deepest` words that begin there, word by word from the last to the
 * first (a radix sort), so that equal n-grams are neighbours and every node comes behind its parent's others. children,
 * last, counts: (deepest, words): of each node of level n, in order, how many children it has, its last word, how often
 * it occurs; sizes: nodes of each level. With `repeated` n-grams that begin with one that occurs once are left out.
 * `deepest` is at most 255. Returns 0, or as kernel.h says.
 *
 * Reads words: int32[starts[-1]], starts: int64[rows + 1]. Writes children: uint32[deepest, starts[-1]],
 * last: uint32[deepest, starts[-1]], counts: uint32[deepest, starts[-1]], sizes: int64[deepest].
 */
KERNEL int64_t steelyard_ngram_counts(const int32_t *words, const int64_t *starts, int64_t rows, int64_t types,
                                      int64_t deepest, int64_t repeated, uint32_t *children, uint32_t *last,
                                      uint32_t *counts, int64_t *sizes) {
    int64_t size = starts[rows], result = OUT_OF_MEMORY;
    memset(sizes, 0, (size_t)deepest * sizeof *sizes);
    if (size == 0) return 0;
    if (size >= INT32_MAX) return TOO_MANY_WORDS;
    int32_t *places = malloc((size_t)size * sizeof *places), *sorted = malloc((size_t)size * sizeof *sorted);
    int32_t *ends = malloc(((size_t)types + 2) * sizeof *ends);
    uint8_t *room = malloc((size_t)size); /* words from a place to the end of its row, at most `deepest` */
    if (!places || !sorted || !ends || !room) goto done;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t at = starts[r]; at < starts[r + 1]; at++)
            room[at] = (uint8_t)(starts[r + 1] - at < deepest ? starts[r + 1] - at : deepest);
    for (int64_t at = 0; at < size; at++) places[at] = (int32_t)at;

    for (int64_t n = deepest; n-- > 0;) {
        /* What has no such word comes first. */
        memset(ends, 0, ((size_t)types + 2) * sizeof *ends);
        for (int64_t at = 0; at < size; at++) ends[n < room[at] ? words[at + n] + 2 : 1]++;
        for (int64_t word = 0; word <= types; word++) ends[word + 1] += ends[word];
        for (int64_t k = 0; k < size; k++) {
            int32_t at = places[k];
            sorted[ends[n < room[at] ? words[at + n] + 1 : 0]++] = at;
        }
        int32_t *swapped = places;
        places = sorted;
        sorted = swapped;
    }

    int64_t common = 0; /* words that begin a place and the one before */
    for (int64_t k = 0; k < size; k++) {
        int32_t at = places[k];
        int64_t next = k + 1 < size ? shared_prefix(words, room, at, places[k + 1]) : 0;
        int64_t most = repeated ? smaller(room[at], larger(common, next) + 1) : room[at];
        for (int64_t n = 0; n < most; n++) {
            int64_t base = n * size;
            if (n >= common) {
                if (n) children[base - size + sizes[n - 1] - 1]++;
                children[base + sizes[n]] = counts[base + sizes[n]] = 0;
                last[base + sizes[n]++] = (uint32_t)words[at + n];
            }
            counts[base + sizes[n] - 1]++;
        }
        common = next;
    }
    result = 0;
done:
    free(places);
    free(sorted);
    free(ends);
    free(room);
    return result;
}
