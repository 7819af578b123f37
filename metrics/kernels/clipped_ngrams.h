/* How often each n-gram of a segment's references counts: at most as often as the one that has it most often. */
#ifndef CLIPPED_NGRAMS_H
#define CLIPPED_NGRAMS_H

#include "comparing.h"
#include "ngram_trie.h"

typedef struct {
    Trie trie;
    int32_t *limit; /* of each node: most often in one reference */
    int32_t *seen;  /* how often in the text `by` */
    int32_t *by;
} Clipped;

/* How many words the references of a segment have together. */
static inline int64_t words_of_references(const int64_t *starts, const uint8_t *present, int64_t references,
                                          int64_t segments, int64_t segment) {
    int64_t words = 0;
    for (int64_t r = 0; r < references; r++) {
        const int64_t *row = starts + r * segments + segment;
        if (present[r * segments + segment]) words += row[1] - row[0];
    }
    return words;
}

/* The most nodes that the references of one segment can make, the root among them; -1 if they are too many. */
static inline int64_t clipped_nodes(const int64_t *starts, const uint8_t *present, int64_t references,
                                    int64_t segments, int64_t deepest) {
    int64_t longest = 0;
    for (int64_t i = 0; i < segments; i++)
        longest = larger(longest, words_of_references(starts, present, references, segments, i));
    return longest > (INT32_MAX - 1) / deepest ? -1 : longest * deepest + 1;
}

/* Returns 0, or -1 without memory; clipped_free is right either way. */
static inline int clipped_allocate(Clipped *c, int64_t nodes) {
    c->limit = malloc((size_t)nodes * sizeof *c->limit);
    c->seen = malloc((size_t)nodes * sizeof *c->seen);
    c->by = malloc((size_t)nodes * sizeof *c->by);
    return trie_allocate(&c->trie, (size_t)nodes) || !c->limit || !c->seen || !c->by ? -1 : 0;
}

static inline void clipped_free(Clipped *c) {
    trie_free(&c->trie);
    free(c->limit);
    free(c->seen);
    free(c->by);
}

/* Counts the n-gram one word on from `node` in the reference `text`; its node. */
static inline int32_t clipped_count(Clipped *c, int32_t node, int32_t word, int32_t text) {
    int32_t before = c->trie.used;
    node = trie_child_or_new(&c->trie, node, word);
    if (c->trie.used > before) c->limit[node] = c->seen[node] = 0, c->by[node] = text;
    if (c->by[node] != text) c->by[node] = text, c->seen[node] = 0;
    if (++c->seen[node] > c->limit[node]) c->limit[node] = c->seen[node];
    return node;
}

/* Whether the n-gram at `node`, met once more in the hypothesis `text`, still counts. */
static inline int clipped_take(Clipped *c, int32_t node, int32_t text) {
    if (c->by[node] != text) c->by[node] = text, c->seen[node] = 0;
    if (c->seen[node] >= c->limit[node]) return 0;
    c->seen[node]++;
    return 1;
}
#endif
