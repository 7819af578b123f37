/* How often each n-gram of some texts, the references of a segment, counts: as often as the text that has it most often.
 *
 * This table takes any texts and orders. Where a segment is short, ngram_masks.h and chrf/ngram_automaton.h are several
 * times faster; what is too large for them comes here. nist/ngram_counts.c counts whole corpora, and in order. */
#ifndef CLIPPED_NGRAMS_H
#define CLIPPED_NGRAMS_H

#include "ngram_rows.h"
#include "ngram_trie.h"
#include "kernel.h"

typedef struct {
    Trie trie;
    int64_t room;   /* nodes that there is memory for */
    int32_t *limit; /* of each node: most often in one reference */
    int32_t *seen;  /* how often in the text `by` */
    int32_t *by;
} Clipped;

static inline void clipped_free(Clipped *c) {
    trie_free(&c->trie);
    free(c->limit);
    free(c->seen);
    free(c->by);
    *c = (Clipped){0};
}

/* Empties it, for up to `nodes` nodes. Returns 0, or -1 without memory; clipped_free is right either way. */
static inline int clipped_clear(Clipped *c, int64_t nodes) {
    if (nodes > c->room) {
        clipped_free(c);
        c->limit = malloc((size_t)nodes * sizeof *c->limit);
        c->seen = malloc((size_t)nodes * sizeof *c->seen);
        c->by = malloc((size_t)nodes * sizeof *c->by);
        if (trie_allocate(&c->trie, (size_t)nodes) || !c->limit || !c->seen || !c->by) return -1;
        c->room = nodes;
    }
    trie_clear(&c->trie, (size_t)nodes);
    return 0;
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

/* Counts the n-grams of the reference `text`, up to an order. */
static inline void clipped_add(Clipped *c, const int32_t *words, int64_t length, int64_t deepest, int32_t text) {
    for (int64_t begin = 0; begin < length; begin++) {
        int64_t end = smaller(begin + deepest, length);
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) node = clipped_count(c, node, words[at], text);
    }
}

/* Counts the n-grams of a segment's references. Returns 0, or as kernel.h says. */
static inline int clipped_read(Clipped *c, const Rows *rows, int64_t segment, int64_t deepest) {
    int64_t words = words_of_references(rows, segment);
    if (words > (INT32_MAX - 1) / deepest) return TOO_MANY_WORDS;
    if (clipped_clear(c, words * deepest + 1)) return OUT_OF_MEMORY;
    for (int64_t r = 0; r < rows->references; r++) {
        if (!is_present(rows, r, segment)) continue;
        Row row = row_of(rows, r, segment);
        clipped_add(c, row.words, row.length, deepest, (int32_t)r);
    }
    return 0;
}

/* Whether the n-gram at `node`, met once more in the hypothesis `text`, still counts. */
static inline int clipped_take(Clipped *c, int32_t node, int32_t text) {
    if (c->by[node] != text) c->by[node] = text, c->seen[node] = 0;
    if (c->seen[node] >= c->limit[node]) return 0;
    c->seen[node]++;
    return 1;
}

/* matches[n - 1] = how many n-grams of order n of the hypothesis `text` count. */
static inline void clipped_overlap(Clipped *c, const int32_t *words, int64_t length, int64_t deepest, int32_t text,
                                   int64_t *matches) {
    memset(matches, 0, (size_t)deepest * sizeof *matches);
    for (int64_t begin = 0; begin < length; begin++) {
        int64_t end = smaller(begin + deepest, length);
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) {
            node = trie_child(&c->trie, node, words[at]);
            if (node < 0) break; /* no longer n-gram from here can be in a reference either */
            matches[at - begin] += clipped_take(c, node, text);
        }
    }
}
#endif
