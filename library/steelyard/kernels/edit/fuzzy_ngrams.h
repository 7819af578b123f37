/* The n-grams of all hypotheses of a segment, and the similarities of each to the n-grams of one reference.
 *
 * An n-gram is its words joined by blanks, so that it begins with the characters of the shorter one it extends. Hence
 * one table of distances compares all n-grams that begin at one word of the reference (its columns) with one n-gram of
 * the hypothesis (the last row) and those that this begins with (rows before), and the rows of an n-gram go on from
 * those of the n-gram that is a word shorter.
 */
#include "myers.h"
#include "ngram_trie.h"
#include "spelling.h"

/* Longer n-grams, in characters, are equal or not at all alike. */
enum { LONGEST = 512, NGRAM_PARTS = LONGEST / WORD_BITS, NGRAM_ORDERS = 16 };

typedef struct {
    int64_t common, length; /* (length - distance) / length, the length being that of the longer side */
} Similarity;

typedef struct {
    int32_t parent, word;
    int64_t length;         /* in characters */
    int64_t shortest, longest; /* what can be similar enough */
    int32_t most;           /* times that one hypothesis has it */
    int32_t needed;         /* whether there is more to find for it, or one that extends it */
    Similarity *best;       /* the `most` best ones, in falling order */
} FuzzyNgram;

typedef struct {
    Spelling spelling;
    double threshold;
    Trie trie;
    FuzzyNgram *nodes;
    BitRow *rows;           /* NGRAM_PARTS of each node */
    uint64_t *places;    /* of each letter: the columns that have it, in NGRAM_PARTS */
    int32_t *needed;     /* nodes, parents first */
    int64_t needed_count;
} FuzzyNgrams;

static inline double ratio(int64_t part, int64_t whole) { return (double)part / (double)whole; }

/* A new node's fixed part. */
static inline void describe(const FuzzyNgrams *ngrams, FuzzyNgram *node, int32_t parent, int32_t word) {
    int64_t before = parent ? ngrams->nodes[parent].length + 1 : 0;
    int64_t length = before + letters_of(&ngrams->spelling, word);
    double threshold = ngrams->threshold;
    *node = (FuzzyNgram){.parent = parent, .word = word, .length = length, .longest = LONGEST};
    node->shortest = (int64_t)(threshold * (double)length);
    while (ratio(node->shortest, length) < threshold) node->shortest++;
    if (threshold * LONGEST > (double)length) {
        node->longest = (int64_t)((double)length / threshold) + 1;
        while (ratio(length, node->longest) < threshold) node->longest--;
    }
}

static inline int better(Similarity one, Similarity other) {
    return one.common * other.length > other.common * one.length;
}

static inline void offer(FuzzyNgram *node, Similarity found) {
    int32_t at = node->most - 1;
    if (!better(found, node->best[at])) return;
    for (; at && better(found, node->best[at - 1]); at--) node->best[at] = node->best[at - 1];
    node->best[at] = found;
}

/* Finds the equal n-grams that begin at a word of the reference. */
static inline void offer_equal(FuzzyNgrams *ngrams, const int32_t *words, int64_t count) {
    int32_t node = 0;
    for (int64_t k = 0; k < count; k++) {
        node = trie_child(&ngrams->trie, node, words[k]);
        if (node < 0) return;
        offer(&ngrams->nodes[node], (Similarity){1, 1});
    }
}

/* Which n-grams are worth comparing once the equal ones are known. Returns the longest that can be similar to one. */
static inline int64_t find_needed(FuzzyNgrams *ngrams) {
    int64_t longest = 0;
    FuzzyNgram *nodes = ngrams->nodes;
    for (int32_t k = 1; k < ngrams->trie.used; k++) nodes[k].needed = 0;
    for (int32_t k = ngrams->trie.used - 1; k > 0; k--) {
        Similarity last = nodes[k].best[nodes[k].most - 1];
        if (nodes[k].length <= LONGEST && last.common < last.length) {
            nodes[k].needed = 1;
            longest = larger(longest, nodes[k].longest);
        }
        if (nodes[k].needed && nodes[k].parent) nodes[nodes[k].parent].needed = 1;
    }
    ngrams->needed_count = 0;
    for (int32_t k = 1; k < ngrams->trie.used; k++)
        if (nodes[k].needed) ngrams->needed[ngrams->needed_count++] = k;
    return longest;
}

static inline void step(FuzzyNgrams *ngrams, BitRow *row, int32_t letter, int64_t parts) {
    const uint64_t *places = ngrams->places + (int64_t)letter * NGRAM_PARTS;
    if (parts == 1) next_row(row, *places);
    else next_wide_row(row, places, parts);
}

/* Compares all n-grams with those that end at the given columns. The compiler makes one of these for one part. */
static inline __attribute__((always_inline)) void compare(FuzzyNgrams *ngrams, const int64_t *ends, int64_t count,
                                                          int64_t parts) {
    for (int64_t p = 0; p < parts; p++) ngrams->rows[p] = ROW_0;
    for (int64_t k = 0; k < ngrams->needed_count; k++) {
        FuzzyNgram *node = ngrams->nodes + ngrams->needed[k];
        const BitRow *before = ngrams->rows + (int64_t)node->parent * NGRAM_PARTS;
        BitRow row[NGRAM_PARTS];
        for (int64_t p = 0; p < parts; p++) row[p] = before[p];
        if (node->parent) step(ngrams, row, BLANK, parts);
        const int64_t *letters = ngrams->spelling.starts + node->word;
        for (int64_t at = letters[0]; at < letters[1]; at++) step(ngrams, row, ngrams->spelling.letters[at], parts);
        for (int64_t p = 0; p < parts; p++) ngrams->rows[ngrams->needed[k] * NGRAM_PARTS + p] = row[p];

        for (int64_t e = 0; e < count && ends[e] <= node->longest; e++) {
            int64_t shorter = smaller(ends[e], node->length), longer = larger(ends[e], node->length);
            if (ends[e] < node->shortest) continue;
            if (!better((Similarity){shorter, longer}, node->best[node->most - 1])) continue;
            int64_t distance = node->length + across(row, ends[e]);
            /* Equal ones are known already. */
            if (distance) offer(node, (Similarity){longer - distance, longer});
        }
    }
}

/* Compares with the n-grams of up to `count` words that begin at a word of the reference; they are not cut off there,
 * but where they are longer than `longest` characters. */
static inline void compare_from(FuzzyNgrams *ngrams, const int32_t *words, int64_t count, int64_t longest) {
    int64_t ends[NGRAM_ORDERS], orders = 0, column = 0;
    int32_t letter[LONGEST];
    for (; orders < count; orders++) {
        const int64_t *letters = ngrams->spelling.starts + words[orders];
        if (column + (orders > 0) + letters[1] - letters[0] > smaller(longest, LONGEST)) break;
        if (orders) letter[column++] = BLANK;
        for (int64_t at = letters[0]; at < letters[1]; at++) letter[column++] = ngrams->spelling.letters[at];
        ends[orders] = column;
    }
    if (!orders) return;
    for (int64_t c = 0; c < column; c++)
        ngrams->places[(int64_t)letter[c] * NGRAM_PARTS + c / WORD_BITS] |= (uint64_t)1 << c % WORD_BITS;
    int64_t parts = (column + WORD_BITS - 1) / WORD_BITS;
    if (parts == 1) compare(ngrams, ends, orders, 1);
    else compare(ngrams, ends, orders, parts);
    for (int64_t c = 0; c < column; c++) ngrams->places[(int64_t)letter[c] * NGRAM_PARTS + c / WORD_BITS] = 0;
}
