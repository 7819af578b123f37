/* Clipped n-gram matches that weigh what the n-gram says (Doddington 2002). */
#include "clipped_ngrams.h"

/* A trie of weighted n-grams: node k's children are first_child[k] to first_child[k + 1], by ascending word. */
typedef struct {
    const int64_t *first_child;
    const int32_t *words;
} Weighted;

/* The node one word on, or -1: neither it nor a longer n-gram weighs anything. */
static int64_t weighted_child(const Weighted *trie, int64_t node, int32_t word) {
    if (node < 0) return -1;
    int64_t at = trie->first_child[node], left = trie->first_child[node + 1] - at;
    if (left == 0) return -1;
    /* Without a branch on the comparison, which no processor could foresee. */
    while (left > 1) {
        int64_t half = left / 2;
        at += trie->words[at + half] <= word ? half : 0;
        left -= half;
    }
    return trie->words[at] == word ? at : -1;
}

/*
 * known: of each word of a reference its number in the weighted trie, whose first nodes are the words. information: of
 * each node. out: (systems, segments, chosen): for each of the orders, which ascend, the sum over the matched n-grams,
 * added up in the order of the hypothesis. Returns 0, or -1 without memory.
 */
int64_t ngram_information(const int32_t *ids, const int64_t *starts, const uint8_t *present, int64_t references,
                          int64_t systems, int64_t segments, const int32_t *known, const int64_t *first_child,
                          const int32_t *words, const double *information, const int64_t *orders, int64_t chosen,
                          double *out) {
    int64_t deepest = orders[chosen - 1], result = -1;
    int64_t nodes = clipped_nodes(starts, present, references, segments, deepest);
    if (nodes < 0) return -1;
    Weighted weighted = {first_child, words};
    Clipped clipped = {0};
    int64_t *place = malloc((size_t)nodes * sizeof *place); /* of each node of a segment in the weighted trie, or -1 */
    double *weight = malloc((size_t)nodes * sizeof *weight);
    double *sums = malloc((size_t)(deepest + 1) * sizeof *sums);
    if (!place || !weight || !sums || clipped_allocate(&clipped, nodes)) goto done;

    for (int64_t i = 0; i < segments; i++) {
        int64_t reference_words = words_of_references(starts, present, references, segments, i);
        trie_clear(&clipped.trie, (size_t)(reference_words * deepest) + 1);

        for (int64_t r = 0; r < references; r++) {
            if (!present[r * segments + i]) continue;
            const int64_t *row = starts + r * segments + i;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = smaller(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) {
                    int32_t before = clipped.trie.used, context = node, word = known[ids[at]];
                    node = clipped_count(&clipped, context, ids[at], (int32_t)r);
                    if (clipped.trie.used > before) {
                        place[node] = at == begin ? word : weighted_child(&weighted, place[context], word);
                        weight[node] = place[node] < 0 ? 0.0 : information[place[node]];
                    }
                    /* Where no longer n-gram from here weighs anything, none is looked for. */
                    if (place[node] < 0 || first_child[place[node]] == first_child[place[node] + 1]) break;
                }
            }
        }

        for (int64_t s = 0; s < systems; s++) {
            int64_t text = references + s;
            const int64_t *row = starts + text * segments + i;
            for (int64_t n = 0; n <= deepest; n++) sums[n] = 0.0;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = smaller(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) {
                    node = trie_child(&clipped.trie, node, ids[at]);
                    if (node < 0) break; /* no longer n-gram from here can be in a reference either */
                    if (clipped_take(&clipped, node, (int32_t)text)) sums[at - begin + 1] += weight[node];
                }
            }
            for (int64_t c = 0; c < chosen; c++) out[(s * segments + i) * chosen + c] = sums[orders[c]];
        }
    }
    result = 0;
done:
    clipped_free(&clipped);
    free(place);
    free(weight);
    free(sums);
    return result;
}
