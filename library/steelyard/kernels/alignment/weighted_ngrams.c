/* Clipped matches of n-grams whose words have weights (Libovicky and Pecina 2014). */
#include "comparing.h"
#include "ngram_trie.h"
#include "kernel.h"

static const int64_t FULL = 1 << 24; /* the weight of a word that was not corrected */

/* An n-gram with a corrected word that the reference has. */
typedef struct {
    int64_t weight; /* sum over its words */
    int64_t begin;
    int32_t node, order;
} Light;

static int heavier_first(const void *one, const void *other) {
    const Light *a = one, *b = other;
    if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The longest row of the texts from `text` on, in words. */
static int64_t longest_row(const int64_t *starts, int64_t text, int64_t texts, int64_t segments) {
    int64_t longest = 0;
    for (int64_t row = text * segments; row < (text + texts) * segments; row++)
        if (starts[row + 1] - starts[row] > longest) longest = starts[row + 1] - starts[row];
    return longest;
}

typedef struct {
    int64_t deepest;
    Trie theirs; /* n-grams of a reference */
    Trie own;    /* n-grams of a hypothesis as it is */
    int32_t *left, *touched, *own_nodes;
    int64_t *credit, *best;
    Light *lights;
} CreditWork;

/* How often the reference has each of its n-grams. */
static void count_reference(CreditWork *w, const int32_t *words, int64_t length, int32_t *count) {
    trie_clear(&w->theirs, (size_t)(length * w->deepest) + 1);
    for (int64_t begin = 0; begin < length; begin++) {
        int64_t end = smaller(begin + w->deepest, length);
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) {
            int32_t before = w->theirs.used;
            node = trie_child_or_new(&w->theirs, node, words[at]);
            if (w->theirs.used > before) count[node] = 0;
            count[node]++;
        }
    }
}

/* Credits an n-gram of the hypothesis: to its order, or where there are several references to itself. */
static inline void give(CreditWork *w, int64_t begin, int64_t order, int64_t weight, int64_t *sums) {
    if (w->own_nodes)
        w->credit[w->own_nodes[begin * w->deepest + order - 1]] += weight;
    else
        sums[order] += weight;
}

/* Gives each n-gram that `count` has its weight, the heaviest first, as often as that; count is as it was then. */
static void give_credit(CreditWork *w, const int32_t *words, const int64_t *weights, int64_t length, int32_t *count,
                        int64_t *sums) {
    int64_t lights = 0, touched = 0;
    for (int64_t begin = 0; begin < length; begin++) {
        int64_t end = smaller(begin + w->deepest, length), weight = 0;
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) {
            int64_t order = at - begin + 1;
            node = trie_child(&w->theirs, node, words[at]);
            if (node < 0) break;
            weight += weights[at];
            if (weight < order * FULL) {
                w->lights[lights++] = (Light){weight, begin, node, (int32_t)order};
            } else if (count[node] > 0) {
                count[node]--;
                w->touched[touched++] = node;
                give(w, begin, order, weight, sums);
            }
        }
    }
    if (lights > 1) qsort(w->lights, (size_t)lights, sizeof *w->lights, heavier_first);
    for (int64_t k = 0; k < lights; k++) {
        const Light *light = w->lights + k;
        if (count[light->node] <= 0) continue;
        count[light->node]--;
        w->touched[touched++] = light->node;
        give(w, light->begin, light->order, light->weight, sums);
    }
    while (touched) count[w->touched[--touched]]++;
}

static void number_own(CreditWork *w, const int32_t *words, int64_t length) {
    trie_clear(&w->own, (size_t)(length * w->deepest) + 1);
    for (int64_t begin = 0; begin < length; begin++) {
        int64_t end = smaller(begin + w->deepest, length);
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) {
            node = trie_child_or_new(&w->own, node, words[at]);
            w->own_nodes[begin * w->deepest + at - begin] = node;
        }
    }
}

/*
 * corrected, weights: (references, words of all hypotheses); weights in parts of FULL. orders ascend. sums: (systems,
 * segments, chosen): the credited weight of the n-grams, times the order (a mean over words times their number),
 * for each distinct n-gram the most over the references. Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], corrected: int32[references, starts[-1] - starts[references * segments]],
 * weights: int64[references, starts[-1] - starts[references * segments]], orders: int64[*]. Writes
 * out: int64[systems, segments, chosen].
 */
KERNEL int64_t steelyard_weighted_ngrams(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                         const int32_t *corrected, const int64_t *weights, int64_t references,
                                         int64_t systems, int64_t segments, const int64_t *orders, int64_t chosen,
                                         int64_t *out) {
    int64_t first = starts[references * segments], words = starts[(references + systems) * segments] - first;
    int64_t deepest = orders[chosen - 1], result = OUT_OF_MEMORY;
    int64_t reference_side = longest_row(starts, 0, references, segments);
    int64_t side = longest_row(starts, references, systems, segments);
    if (reference_side > (INT32_MAX - 1) / deepest || side > (INT32_MAX - 1) / deepest) return TOO_MANY_WORDS;
    size_t nodes = (size_t)(reference_side * deepest) + 1, own = (size_t)(side * deepest) + 1;
    CreditWork w = {.deepest = deepest};
    Trie *tries = calloc((size_t)references, sizeof *tries);
    int32_t **counts = calloc((size_t)references, sizeof *counts);
    int64_t *sums = malloc((size_t)(deepest + 1) * sizeof *sums);
    w.lights = malloc(own * sizeof *w.lights);
    w.touched = malloc(own * sizeof *w.touched);
    if (!tries || !counts || !sums || !w.lights || !w.touched) goto done;
    for (int64_t r = 0; r < references; r++) {
        counts[r] = malloc(nodes * sizeof *counts[r]);
        if (!counts[r] || trie_allocate(&tries[r], nodes)) goto done;
    }
    if (references > 1) {
        w.own_nodes = malloc(own * sizeof *w.own_nodes);
        w.credit = malloc(own * sizeof *w.credit);
        w.best = malloc(own * sizeof *w.best);
        if (!w.own_nodes || !w.credit || !w.best || trie_allocate(&w.own, own)) goto done;
    }

    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (!present[r * segments + i]) continue;
            w.theirs = tries[r];
            count_reference(&w, ids + row[0], row[1] - row[0], counts[r]);
            tries[r] = w.theirs;
        }
        for (int64_t s = 0; s < systems; s++) {
            const int64_t *row = starts + (references + s) * segments + i;
            int64_t length = row[1] - row[0];
            memset(sums, 0, (size_t)(deepest + 1) * sizeof *sums);
            if (w.own_nodes) {
                number_own(&w, ids + row[0], length);
                memset(w.best, 0, (size_t)w.own.used * sizeof *w.best);
            }
            for (int64_t r = 0; r < references; r++) {
                int64_t at = r * words + row[0] - first;
                if (!present[r * segments + i]) continue;
                w.theirs = tries[r];
                if (w.own_nodes) memset(w.credit, 0, (size_t)w.own.used * sizeof *w.credit);
                give_credit(&w, corrected + at, weights + at, length, counts[r], sums);
                for (int32_t node = 1; w.own_nodes && node < w.own.used; node++)
                    if (w.credit[node] > w.best[node]) w.best[node] = w.credit[node];
            }
            for (int64_t begin = 0; w.own_nodes && begin < length; begin++) {
                for (int64_t order = 1; order <= deepest && begin + order <= length; order++) {
                    int64_t *best = &w.best[w.own_nodes[begin * deepest + order - 1]];
                    sums[order] += *best;
                    *best = 0; /* once for each distinct n-gram */
                }
            }
            for (int64_t c = 0; c < chosen; c++) out[(s * segments + i) * chosen + c] = sums[orders[c]];
        }
    }
    result = 0;
done:
    for (int64_t r = 0; tries && counts && r < references; r++) {
        trie_free(&tries[r]);
        free(counts[r]);
    }
    free(tries);
    free(counts);
    free(sums);
    free(w.lights);
    free(w.touched);
    free(w.own_nodes);
    free(w.credit);
    free(w.best);
    trie_free(&w.own);
    return result;
}
