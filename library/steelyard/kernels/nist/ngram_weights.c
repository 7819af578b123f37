/* What the n-grams of a table say: each is known by how often it and its context, the words before its last, occur. */
#include <stdlib.h>

#include "elementary.h"
#include "kernel.h"

/* Pairs of counts come again and again: logarithms of the last ones that were met. */
enum { REMEMBERED = 1 << 12 };

typedef struct {
    int64_t context, own; /* 0 for none */
    double bits;
} Quotient;

static double bits_of(Quotient *remembered, int64_t context, int64_t own) {
    if (context == own) return 0.0;
    uint64_t hash = ((uint64_t)context << 32 ^ (uint64_t)own) * 0x9E3779B97F4A7C15u;
    Quotient *pair = remembered + (hash >> 32) % REMEMBERED;
    if (pair->context != context || pair->own != own)
        *pair = (Quotient){context, own, log2_of((double)context / (double)own)};
    return pair->bits;
}

/*
 * A table: nodes in order, the first `types` of them words; children: of each node, whose children follow one another
 * behind those of the nodes before it; total: of all words, which is the context of each. first_child: of each node and
 * of one behind the last, where its children begin; bits: of each node what it says. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads children: uint32[*], counts: uint32[nodes]. Writes first_child: int64[nodes + 1], bits: float64[nodes].
 */
KERNEL int64_t steelyard_ngram_weights(const uint32_t *children, const uint32_t *counts, int64_t types, int64_t nodes,
                                       int64_t total, int64_t *first_child, double *bits) {
    Quotient *remembered = calloc(REMEMBERED, sizeof *remembered);
    if (!remembered) return OUT_OF_MEMORY;
    for (int64_t node = 0; node < types; node++) bits[node] = bits_of(remembered, total, counts[node]);
    int64_t child = types;
    for (int64_t node = 0; node < nodes; node++) {
        first_child[node] = child;
        for (int64_t end = child + children[node]; child < end; child++)
            bits[child] = bits_of(remembered, counts[node], counts[child]);
    }
    first_child[nodes] = child;
    free(remembered);
    return 0;
}
