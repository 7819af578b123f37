/* Clipped n-gram matches of word sequences (Papineni et al. 2002, section 2.1). */
#include "clipped_ngrams.h"

/*
 * out: (systems, segments, 2 + 2 * chosen): hypothesis length, closest reference length, matches and totals of
 * each chosen order. orders ascend. present: (references, segments). Returns 0, or -1 without memory.
 */
int64_t ngram_statistics(const int32_t *ids, const int64_t *starts, const uint8_t *present, int64_t references,
                         int64_t systems, int64_t segments, const int64_t *orders, int64_t chosen, double *out) {
    int64_t deepest = orders[chosen - 1], result = -1;
    int64_t nodes = clipped_nodes(starts, present, references, segments, deepest);
    if (nodes < 0) return -1;
    Clipped clipped = {0};
    int64_t *column = malloc((size_t)(deepest + 1) * sizeof *column);
    if (!column || clipped_allocate(&clipped, nodes)) goto done;
    for (int64_t n = 0; n <= deepest; n++) column[n] = -1;
    for (int64_t c = 0; c < chosen; c++) column[orders[c]] = c;

    for (int64_t i = 0; i < segments; i++) {
        int64_t words = words_of_references(starts, present, references, segments, i);
        trie_clear(&clipped.trie, (size_t)(words * deepest) + 1);

        for (int64_t r = 0; r < references; r++) {
            if (!present[r * segments + i]) continue;
            const int64_t *row = starts + r * segments + i;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = smaller(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) node = clipped_count(&clipped, node, ids[at], (int32_t)r);
            }
        }

        for (int64_t s = 0; s < systems; s++) {
            int64_t text = references + s;
            const int64_t *row = starts + text * segments + i;
            int64_t length = row[1] - row[0];
            double *statistics = out + (s * segments + i) * (2 + 2 * chosen);
            memset(statistics, 0, (size_t)(2 + 2 * chosen) * sizeof *statistics);
            int64_t closest = -1;
            for (int64_t r = 0; r < references; r++) {
                if (!present[r * segments + i]) continue;
                const int64_t *other = starts + r * segments + i;
                closest = closer(closest, other[1] - other[0], length);
            }
            statistics[0] = (double)length;
            statistics[1] = (double)closest;
            for (int64_t c = 0; c < chosen; c++)
                statistics[2 + chosen + c] = length >= orders[c] ? (double)(length - orders[c] + 1) : 0;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = smaller(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) {
                    node = trie_child(&clipped.trie, node, ids[at]);
                    if (node < 0) break; /* no longer n-gram from here can be in a reference either */
                    if (!clipped_take(&clipped, node, (int32_t)text)) continue;
                    int64_t c = column[at - begin + 1];
                    if (c >= 0) statistics[2 + c]++;
                }
            }
        }
    }
    result = 0;
done:
    clipped_free(&clipped);
    free(column);
    return result;
}
