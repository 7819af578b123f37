/* Clipped n-gram matches of word sequences (Papineni et al. 2002, section 2.1). */
#include "ngram_trie.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/*
 * out: (systems, segments, 2 + 2 * chosen): hypothesis length, closest reference length, matches and totals of
 * each chosen order. orders ascend. present: (references, segments). Returns 0, or -1 without memory.
 */
int64_t ngram_statistics(const int32_t *ids, const int64_t *starts, const uint8_t *present, int64_t references,
                         int64_t systems, int64_t segments, const int64_t *orders, int64_t chosen, double *out) {
    int64_t deepest = orders[chosen - 1], longest = 0;
    for (int64_t i = 0; i < segments; i++) {
        int64_t words = 0;
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (present[r * segments + i]) words += row[1] - row[0];
        }
        if (words > longest) longest = words;
    }
    if (longest > (INT32_MAX - 1) / deepest) return -1;
    size_t nodes = (size_t)(longest * deepest) + 1;
    Trie trie = {0};
    int32_t *limit = malloc(nodes * sizeof *limit);   /* most often in one reference */
    int32_t *seen = malloc(nodes * sizeof *seen);     /* how often in the text `by` */
    int32_t *by = malloc(nodes * sizeof *by);
    int64_t *column = malloc((size_t)(deepest + 1) * sizeof *column), result = -1;
    if (!limit || !seen || !by || !column || trie_allocate(&trie, nodes)) goto done;
    for (int64_t n = 0; n <= deepest; n++) column[n] = -1;
    for (int64_t c = 0; c < chosen; c++) column[orders[c]] = c;

    for (int64_t i = 0; i < segments; i++) {
        int64_t words = 0;
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (present[r * segments + i]) words += row[1] - row[0];
        }
        trie_clear(&trie, (size_t)(words * deepest) + 1);

        for (int64_t r = 0; r < references; r++) {
            if (!present[r * segments + i]) continue;
            const int64_t *row = starts + r * segments + i;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = least(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) {
                    int32_t before = trie.used;
                    node = trie_child_or_new(&trie, node, ids[at]);
                    if (trie.used > before) limit[node] = seen[node] = 0, by[node] = (int32_t)r;
                    if (by[node] != r) by[node] = (int32_t)r, seen[node] = 0;
                    if (++seen[node] > limit[node]) limit[node] = seen[node];
                }
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
                int64_t reference = other[1] - other[0];
                int64_t gap = llabs(reference - length), best = llabs(closest - length);
                if (closest < 0 || gap < best || (gap == best && reference < closest)) closest = reference;
            }
            statistics[0] = (double)length;
            statistics[1] = (double)closest;
            for (int64_t c = 0; c < chosen; c++)
                statistics[2 + chosen + c] = length >= orders[c] ? (double)(length - orders[c] + 1) : 0;
            for (int64_t begin = row[0]; begin < row[1]; begin++) {
                int64_t end = least(begin + deepest, row[1]);
                int32_t node = 0;
                for (int64_t at = begin; at < end; at++) {
                    node = trie_child(&trie, node, ids[at]);
                    if (node < 0) break; /* no longer n-gram from here can be in a reference either */
                    if (by[node] != text) by[node] = (int32_t)text, seen[node] = 0;
                    if (seen[node] < limit[node]) {
                        seen[node]++;
                        int64_t c = column[at - begin + 1];
                        if (c >= 0) statistics[2 + c]++;
                    }
                }
            }
        }
    }
    result = 0;
done:
    trie_free(&trie);
    free(limit);
    free(seen);
    free(by);
    free(column);
    return result;
}
