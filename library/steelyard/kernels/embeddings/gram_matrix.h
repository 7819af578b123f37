/* Dot products of the vectors of words: all hypothesis words with all words of a reference, other pairs on demand. */
#ifndef GRAM_MATRIX_H
#define GRAM_MATRIX_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dot_products.h"
#include "ngram_trie.h"

typedef struct {
    const float *vectors; /* (words of the vocabulary, size) */
    const int32_t *rows;  /* by word: its row there, or -1 */
    int64_t size, padded;
    int32_t *slot;     /* by word: its place in `packed`, or -1 */
    int32_t *column;   /* by word: where it first stands in the reference, or -1 */
    int32_t *entered;  /* the words in `packed`, those of the hypotheses first */
    int64_t used, own; /* how many, and how many of them are of the hypotheses */
    double *packed;    /* (entered, padded) */
    double *squares;   /* of each, its product with itself */
    const int32_t *reference;
    int64_t columns;  /* words of the reference */
    double *products; /* (own, columns) */
    Trie pairs;       /* other pairs that were asked for */
    double *others;   /* their products */
} Gram;

/* Room for so many words of hypotheses and reference, and so many other pairs of `types` words; 0, or -1 without
 * memory. */
static int gram_allocate(Gram *gram, int64_t types, int64_t hypotheses, int64_t reference, int64_t pairs) {
    gram->padded = (gram->size + LANES - 1) / LANES * LANES;
    gram->slot = malloc(((size_t)types + 1) * sizeof *gram->slot);
    gram->column = malloc(((size_t)types + 1) * sizeof *gram->column);
    size_t words = (size_t)(hypotheses + reference) + 1;
    gram->entered = malloc(words * sizeof *gram->entered);
    gram->packed = malloc(words * (size_t)(gram->padded + 1) * sizeof *gram->packed);
    gram->squares = malloc(words * sizeof *gram->squares);
    gram->products = malloc(((size_t)hypotheses + 1) * ((size_t)reference + 1) * sizeof *gram->products);
    gram->others = malloc(((size_t)pairs + 1) * sizeof *gram->others);
    if (!gram->slot || !gram->column || !gram->entered || !gram->packed || !gram->squares || !gram->products ||
        !gram->others || trie_allocate(&gram->pairs, (size_t)pairs + 1))
        return -1;
    memset(gram->slot, 0xFF, ((size_t)types + 1) * sizeof *gram->slot);
    memset(gram->column, 0xFF, ((size_t)types + 1) * sizeof *gram->column);
    return 0;
}

static void gram_free(Gram *gram) {
    free(gram->slot);
    free(gram->column);
    free(gram->entered);
    free(gram->packed);
    free(gram->squares);
    free(gram->products);
    free(gram->others);
    trie_free(&gram->pairs);
}

static inline const double *packed_row(const Gram *gram, int64_t slot) { return gram->packed + slot * gram->padded; }

static void enter(Gram *gram, const int32_t *words, int64_t length) {
    for (int64_t k = 0; k < length; k++) {
        int32_t word = words[k];
        if (gram->rows[word] < 0 || gram->slot[word] >= 0) continue;
        const float *vector = gram->vectors + (int64_t)gram->rows[word] * gram->size;
        double *row = gram->packed + gram->used * gram->padded;
        for (int64_t at = 0; at < gram->size; at++) row[at] = vector[at];
        for (int64_t at = gram->size; at < gram->padded; at++) row[at] = 0;
        gram->squares[gram->used] = dot(row, row, gram->padded);
        gram->slot[word] = (int32_t)gram->used;
        gram->entered[gram->used++] = word;
    }
}

static void multiply(Gram *gram) {
    int64_t columns = gram->columns, n = gram->padded;
    for (int64_t h = 0; h < gram->own; h += 2) {
        double *row = gram->products + h * columns, *next = h + 1 < gram->own ? row + columns : row;
        const double *a = packed_row(gram, h), *b = packed_row(gram, h + 1 < gram->own ? h + 1 : h);
        int64_t waiting = -1; /* a column that still lacks its partner */
        for (int64_t j = 0; j < columns; j++) {
            int32_t word = gram->reference[j];
            if (gram->slot[word] < 0) {
                row[j] = next[j] = 0;
            } else if (gram->column[word] == j) {
                if (waiting < 0) {
                    waiting = j;
                    continue;
                }
                double found[4];
                four_dots(a, b, packed_row(gram, gram->slot[gram->reference[waiting]]),
                          packed_row(gram, gram->slot[word]), n, found);
                next[waiting] = found[2], next[j] = found[3];
                row[waiting] = found[0], row[j] = found[1];
                waiting = -1;
            }
        }
        if (waiting >= 0) {
            const double *c = packed_row(gram, gram->slot[gram->reference[waiting]]);
            next[waiting] = dot(b, c, n);
            row[waiting] = dot(a, c, n);
        }
        for (int64_t j = 0; j < columns; j++) {
            int32_t first = gram->column[gram->reference[j]];
            if (first != j) row[j] = row[first], next[j] = next[first];
        }
    }
}

static void clear_gram(Gram *gram) {
    while (gram->used) gram->slot[gram->entered[--gram->used]] = -1;
    for (int64_t j = 0; j < gram->columns; j++) gram->column[gram->reference[j]] = -1;
    gram->columns = gram->own = 0;
    trie_clear(&gram->pairs, 1);
}

/* The product of two words; 0 where one has no vector. */
static double product(Gram *gram, int32_t one, int32_t other) {
    int32_t a = gram->slot[one], b = gram->slot[other];
    if (a < 0 || b < 0) return 0;
    if (a == b) return gram->squares[a];
    if (a < gram->own && gram->column[other] >= 0) return gram->products[a * gram->columns + gram->column[other]];
    if (b < gram->own && gram->column[one] >= 0) return gram->products[b * gram->columns + gram->column[one]];
    int32_t before = gram->pairs.used, pair = trie_child_or_new(&gram->pairs, a < b ? a : b, a < b ? b : a);
    if (gram->pairs.used > before) gram->others[pair] = dot(packed_row(gram, a), packed_row(gram, b), gram->padded);
    return gram->others[pair];
}
#endif
