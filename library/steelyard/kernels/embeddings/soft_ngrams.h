/* How similar each n-gram of some hypotheses is to the n-gram of a reference that it resembles most. */
#ifndef SOFT_NGRAMS_H
#define SOFT_NGRAMS_H

#include <math.h>

#include "gram_matrix.h"

static const double WHOLE = (double)((int64_t)1 << 40); /* similarities are in parts of it */
/* Vectors that cancel to less than 2^-15 of their lengths leave only rounding errors: no direction. */
static const double NOTHING_LEFT = 1.0 / (1 << 30);

static inline double inverse_length(double square, double largest) {
    return square > NOTHING_LEFT * largest ? 1 / sqrt(square) : 0;
}

/* The square of the length of the sum of vectors, built up word by word. */
typedef struct {
    double square, squares; /* the latter: of each word alone */
} Length;

static inline void add_word(Gram *gram, Length *length, const int32_t *words, int64_t before) {
    double own = product(gram, words[before], words[before]);
    length->squares += own;
    length->square += own;
    for (int64_t k = 0; k < before; k++) length->square += 2 * product(gram, words[k], words[before]);
}

static inline double inverse_of(const Length *length, int64_t words) {
    return inverse_length(length->square, (double)words * length->squares);
}

/* inverses: (deepest, columns); of the n-grams that begin at each of the first `length` words of the reference. */
static void measure_reference(Gram *gram, int64_t length, int64_t deepest, double *inverses) {
    for (int64_t begin = 0; begin < length; begin++) {
        Length so_far = {0, 0};
        for (int64_t n = 1; n <= deepest && begin + n <= gram->columns; n++) {
            add_word(gram, &so_far, gram->reference + begin, n - 1);
            inverses[(n - 1) * gram->columns + begin] = inverse_of(&so_far, n);
        }
    }
}

/* The largest product of the sum of an n-gram's vectors with a reference n-gram, divided by the latter's length.
 * sums: with each reference word; windows: room for as many; count: reference n-grams. */
static double largest_product(const double *restrict sums, double *restrict windows, const double *restrict inverses,
                              int64_t count, int64_t order) {
    double best = 0;
    for (int64_t j = 0; j < count; j++) windows[j] = sums[j];
    for (int64_t k = 1; k < order; k++)
        for (int64_t j = 0; j < count; j++) windows[j] += sums[j + k];
    for (int64_t j = 0; j < count; j++) {
        double found = windows[j] * inverses[j];
        best = found > best ? found : best;
    }
    return best;
}

typedef struct {
    int64_t deepest;
    Trie trie;      /* n-grams of the hypotheses */
    int64_t *best;  /* by node: similarity in parts of WHOLE, -1 while not known */
    int32_t *nodes; /* (words of the hypotheses, deepest): the n-grams that begin there */
    double *sums, *windows, *inverses;
} SoftNgrams;

/* Numbers the n-grams that begin at the first `length` of `reach` words; nodes: their place in SoftNgrams.nodes. */
static void number_ngrams(SoftNgrams *ngrams, const int32_t *words, int64_t length, int64_t reach, int32_t *nodes) {
    for (int64_t begin = 0; begin < length; begin++) {
        int32_t node = 0;
        for (int64_t n = 0; n < ngrams->deepest; n++) {
            int32_t before = ngrams->trie.used;
            if (begin + n < reach) {
                node = trie_child_or_new(&ngrams->trie, node, words[begin + n]);
                if (ngrams->trie.used > before) ngrams->best[node] = -1;
            }
            nodes[begin * ngrams->deepest + n] = begin + n < reach ? node : -1;
        }
    }
}

/* N-grams that the reference has are wholly similar, whether their words have vectors or not. */
static void find_identical(SoftNgrams *ngrams, const int32_t *reference, int64_t length) {
    for (int64_t begin = 0; begin < length; begin++) {
        int32_t node = 0;
        for (int64_t at = begin; at < length && at < begin + ngrams->deepest; at++) {
            node = trie_child(&ngrams->trie, node, reference[at]);
            if (node < 0) break;
            ngrams->best[node] = (int64_t)WHOLE;
        }
    }
}

/* Finds `best` of the n-grams in `nodes`, which begin with words[0]; `length` of the reference's may be their likes. */
static void compare_ngrams(SoftNgrams *ngrams, Gram *gram, const int32_t *words, const int32_t *nodes, int64_t length) {
    int64_t open = ngrams->deepest; /* orders up to the last one that is not known */
    while (open && (nodes[open - 1] < 0 || ngrams->best[nodes[open - 1]] >= 0)) open--;
    Length so_far = {0, 0};
    for (int64_t j = 0; open && j < gram->columns; j++) ngrams->sums[j] = 0;
    for (int64_t n = 1; n <= open; n++) {
        int32_t slot = gram->slot[words[n - 1]];
        if (slot >= 0) {
            const double *products = gram->products + slot * gram->columns;
            for (int64_t j = 0; j < gram->columns; j++) ngrams->sums[j] += products[j];
        }
        add_word(gram, &so_far, words, n - 1);
        if (ngrams->best[nodes[n - 1]] >= 0) continue;
        int64_t count = gram->columns - n + 1 < length ? gram->columns - n + 1 : length;
        double inverse = inverse_of(&so_far, n), similarity = 0;
        if (inverse > 0)
            similarity = inverse * largest_product(ngrams->sums, ngrams->windows,
                                                   ngrams->inverses + (n - 1) * gram->columns, count, n);
        ngrams->best[nodes[n - 1]] = similarity < 1 ? (int64_t)(similarity * WHOLE + 0.5) : (int64_t)WHOLE;
    }
}
#endif
