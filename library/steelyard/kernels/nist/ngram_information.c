/* Clipped n-gram matches that weigh what the n-gram says (Doddington 2002). */
#include "clipped_ngrams.h"
#include "kernel.h"
#include "ngram_masks.h"

/* A trie of weighted n-grams: node k's children are first_child[k] to first_child[k + 1], by ascending word. */
typedef struct {
    const int32_t *known; /* of each word of a reference its number, which is its node */
    const int64_t *first_child;
    const int32_t *words;
    const double *information;
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

/* What the n-grams that end at each place of the masks say; of each order MOST_PLACES and a 0 for no place. */
static void weigh_places(const Weighted *trie, const Masks *masks, double *weight) {
    int64_t nodes[MOST_ORDERS + 1]; /* of the n-grams that end at the place before */
    for (int n = 0; n <= masks->deepest; n++) nodes[n] = -1;
    for (int place = 0; place < masks->places; place++) {
        int32_t word = masks->words[place] ? trie->known[masks->types[masks->words[place]]] : -1;
        for (int n = masks->deepest; n-- > 0;) {
            int64_t node = word < 0 ? -1 : n ? weighted_child(trie, nodes[n - 1], word) : word;
            weight[n * (MOST_PLACES + 1) + place] = node < 0 ? 0.0 : trie->information[node];
            nodes[n] = node;
        }
    }
    for (int n = 0; n < masks->deepest; n++) weight[n * (MOST_PLACES + 1) + 64 * masks->parts] = 0.0;
}

/* Of each order, what the matched n-grams of a hypothesis say. */
ALWAYS_INLINE void add_places(const Masks *masks, int parts, int deepest, const double *weight, Row row, double *sums) {
    uint64_t ending[MOST_ORDERS * MOST_PARTS] = {0}, left[MOST_ORDERS * MOST_PARTS];
    double added[MOST_ORDERS] = {0.0};
    for (int k = 0; k < deepest * parts; k++) left[k] = masks->open[k];
    for (int64_t at = 0; at < row.length; at++) {
        masks_step(ending, masks->ends + masks->number[row.words[at]] * parts, parts, deepest);
        for (int n = 0; n < deepest; n++)
            added[n] += weight[n * (MOST_PLACES + 1) + masks_take(ending + n * parts, left + n * parts, parts)];
    }
    for (int n = 0; n < deepest; n++) sums[n] = added[n];
}

static void add_by_masks(const Masks *masks, const double *weight, Row row, double *sums) {
    /* What is usual is compiled with these numbers, so that all masks are in registers. */
    if (masks->parts == 1 && masks->deepest == 5) add_places(masks, 1, 5, weight, row, sums);
    else if (masks->parts == 1) add_places(masks, 1, masks->deepest, weight, row, sums);
    else if (masks->parts == 2) add_places(masks, 2, masks->deepest, weight, row, sums);
    else add_places(masks, 4, masks->deepest, weight, row, sums);
}

/* For segments that are too long for masks: of each node of the trie of their n-grams, what the n-gram says. */
typedef struct {
    Clipped clipped;
    int64_t room;
    int64_t *nodes; /* the weighted one, or -1 */
    double *weight;
} Long;

static void long_free(Long *l) {
    clipped_free(&l->clipped);
    free(l->nodes);
    free(l->weight);
}

/* Returns 0, or as kernel.h says. */
static int long_read(Long *l, const Weighted *trie, const Rows *rows, int64_t segment, int64_t deepest) {
    const int failed = clipped_read(&l->clipped, rows, segment, deepest);
    if (failed) return failed;
    if (l->clipped.room > l->room) {
        free(l->nodes);
        free(l->weight);
        l->room = l->clipped.room;
        l->nodes = malloc((size_t)l->room * sizeof *l->nodes);
        l->weight = malloc((size_t)l->room * sizeof *l->weight);
        if (!l->nodes || !l->weight) return OUT_OF_MEMORY;
    }
    int32_t weighed = 0; /* nodes are met in the order in which they were made */
    for (int64_t r = 0; r < rows->references; r++) {
        if (!is_present(rows, r, segment)) continue;
        Row row = row_of(rows, r, segment);
        for (int64_t begin = 0; begin < row.length; begin++) {
            int64_t end = smaller(begin + deepest, row.length);
            int32_t node = 0;
            for (int64_t at = begin; at < end; at++) {
                int32_t shorter = node, word = trie->known[row.words[at]];
                node = trie_child(&l->clipped.trie, node, row.words[at]);
                if (node <= weighed) continue;
                weighed = node;
                l->nodes[node] = at == begin ? word : weighted_child(trie, l->nodes[shorter], word);
                l->weight[node] = l->nodes[node] < 0 ? 0.0 : trie->information[l->nodes[node]];
            }
        }
    }
    return 0;
}

static void add_by_trie(Long *l, Row row, int64_t deepest, int32_t text, double *sums) {
    for (int64_t n = 0; n < deepest; n++) sums[n] = 0.0;
    for (int64_t begin = 0; begin < row.length; begin++) {
        int64_t end = smaller(begin + deepest, row.length);
        int32_t node = 0;
        for (int64_t at = begin; at < end; at++) {
            node = trie_child(&l->clipped.trie, node, row.words[at]);
            if (node < 0) break; /* no longer n-gram from here can be in a reference either */
            if (clipped_take(&l->clipped, node, text)) sums[at - begin] += l->weight[node];
        }
    }
}

/*
 * known: of each word of a reference its number in the weighted trie, whose first nodes are the words. information: of
 * each node. ids are below types. out: (systems, segments, chosen): for each of the orders, which ascend, the sum over
 * the matched n-grams, added up in the order of the hypothesis. Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], known: int32[*], first_child: int64[len(words) + 1], words: int32|uint32[*],
 * information: float64[len(words)], orders: int64[*]. Writes out: float64[systems, segments, chosen].
 */
KERNEL int64_t steelyard_ngram_information(const int32_t *ids, int64_t types, const int64_t *starts,
                                           const uint8_t *present, int64_t references, int64_t systems,
                                           int64_t segments, const int32_t *known, const int64_t *first_child,
                                           const int32_t *words, const double *information, const int64_t *orders,
                                           int64_t chosen, double *out) {
    const Rows rows = {ids, starts, present, references, segments};
    const Weighted trie = {known, first_child, words, information};
    int64_t deepest = orders[chosen - 1], result = OUT_OF_MEMORY;
    Long of_long = {.room = 0};
    Masks *masks = masks_made(types, deepest);
    double *weight = malloc(MOST_ORDERS * (MOST_PLACES + 1) * sizeof *weight);
    double *sums = malloc((size_t)deepest * sizeof *sums);
    if (!masks || !weight || !sums) goto done;

    for (int64_t i = 0; i < segments; i++) {
        int by_trie = masks_read(masks, &rows, i) < 0;
        if (!by_trie) weigh_places(&trie, masks, weight);
        else if ((result = long_read(&of_long, &trie, &rows, i, deepest))) goto done;
        for (int64_t s = 0; s < systems; s++) {
            Row row = row_of(&rows, references + s, i);
            if (by_trie) add_by_trie(&of_long, row, deepest, (int32_t)(references + s), sums);
            else add_by_masks(masks, weight, row, sums);
            for (int64_t c = 0; c < chosen; c++) out[(s * segments + i) * chosen + c] = sums[orders[c] - 1];
        }
    }
    result = 0;
done:
    long_free(&of_long);
    masks_free(masks);
    free(weight);
    free(sums);
    return result;
}
