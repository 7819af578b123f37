/* Clipped n-gram matches of word sequences (Papineni et al. 2002, section 2.1). */
#include "clipped_ngrams.h"
#include "kernel.h"
#include "ngram_masks.h"

/* Of each order, how many n-grams of a hypothesis are matched. */
ALWAYS_INLINE void count_places(const Masks *masks, int parts, int deepest, Row row, int64_t *matches) {
    uint64_t ending[MOST_ORDERS * MOST_PARTS] = {0}, left[MOST_ORDERS * MOST_PARTS];
    for (int k = 0; k < deepest * parts; k++) left[k] = masks->open[k];
    for (int64_t at = 0; at < row.length; at++) {
        masks_step(ending, masks->ends + masks->number[row.words[at]] * parts, parts, deepest);
        for (int n = 0; n < deepest; n++) masks_take(ending + n * parts, left + n * parts, parts);
    }
    for (int n = 0; n < deepest; n++) {
        matches[n] = 0;
        for (int k = n * parts; k < (n + 1) * parts; k++)
            matches[n] += __builtin_popcountll(masks->open[k]) - __builtin_popcountll(left[k]);
    }
}

static void count_by_masks(const Masks *masks, Row row, int64_t *matches) {
    /* What is usual is compiled with these numbers, so that all masks are in registers. */
    if (masks->parts == 1 && masks->deepest == 4) count_places(masks, 1, 4, row, matches);
    else if (masks->parts == 1) count_places(masks, 1, masks->deepest, row, matches);
    else if (masks->parts == 2) count_places(masks, 2, masks->deepest, row, matches);
    else count_places(masks, 4, masks->deepest, row, matches);
}

static int64_t closest_length(const Rows *rows, int64_t segment, int64_t length) {
    int64_t closest = -1;
    for (int64_t r = 0; r < rows->references; r++)
        if (is_present(rows, r, segment)) closest = closer(closest, row_of(rows, r, segment).length, length);
    return closest;
}

/*
 * out: (systems, segments, 2 + 2 * chosen): hypothesis length, closest reference length, matches and totals of
 * each chosen order. ids are below types; orders ascend. present: (references, segments). Returns 0, or as
 * kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], orders: int64[*]. Writes out: float64[systems, segments, 2 + 2 * chosen].
 */
KERNEL int64_t steelyard_ngram_statistics(const int32_t *ids, int64_t types, const int64_t *starts,
                                          const uint8_t *present, int64_t references, int64_t systems, int64_t segments,
                                          const int64_t *orders, int64_t chosen, double *out) {
    const Rows rows = {ids, starts, present, references, segments};
    int64_t deepest = orders[chosen - 1], result = OUT_OF_MEMORY;
    Clipped clipped = {0};
    Masks *masks = masks_made(types, deepest);
    int64_t *matches = malloc((size_t)deepest * sizeof *matches);
    if (!masks || !matches) goto done;

    for (int64_t i = 0; i < segments; i++) {
        int by_trie = masks_read(masks, &rows, i) < 0;
        if (by_trie && (result = clipped_read(&clipped, &rows, i, deepest))) goto done;
        for (int64_t s = 0; s < systems; s++) {
            Row row = row_of(&rows, references + s, i);
            if (by_trie) clipped_overlap(&clipped, row.words, row.length, deepest, (int32_t)(references + s), matches);
            else count_by_masks(masks, row, matches);
            double *statistics = out + (s * segments + i) * (2 + 2 * chosen);
            statistics[0] = (double)row.length;
            statistics[1] = (double)closest_length(&rows, i, row.length);
            for (int64_t c = 0; c < chosen; c++) {
                statistics[2 + c] = (double)matches[orders[c] - 1];
                statistics[2 + chosen + c] = row.length >= orders[c] ? (double)(row.length - orders[c] + 1) : 0;
            }
        }
    }
    result = 0;
done:
    clipped_free(&clipped);
    masks_free(masks);
    free(matches);
    return result;
}
