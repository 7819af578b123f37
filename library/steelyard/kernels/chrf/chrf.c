/* chrF's statistics for a whole shard: see chrf.py. */
#include <stdint.h>
#include <string.h>

#include "chrf_score.h"
#include "kernel.h"

enum { LARGEST_ORDER = 64 };

/* N-grams of characters or words: how many symbols the rows have, and what systems share with references. */
typedef struct {
    const int64_t *lengths;
    const uint32_t *shared; /* (references, systems, segments, orders) */
    size_t orders;
} Level;

/* Writes (n-grams of the hypothesis, of the reference, common) for each order. An order the reference does
 * not reach has no n-grams on either side. */
static double *write_row(double *out, const uint32_t *shared, size_t hypothesis, size_t reference, size_t orders) {
    for (size_t n = 1; n <= orders; n++) {
        const size_t of_reference = reference >= n ? reference - n + 1 : 0;
        const size_t of_hypothesis = hypothesis >= n && of_reference ? hypothesis - n + 1 : 0;
        *out++ = (double)of_hypothesis;
        *out++ = (double)of_reference;
        *out++ = (double)shared[n - 1];
    }
    return out;
}

/* Writes (systems, segments, 3 * (characters + words)) numbers: those of the best reference that is present, the
 * first one of equals. present: (references, segments). Rows of the lengths: references, then systems.
 *
 * Reads character_lengths: int64[(references + systems) * segments]?,
 * characters: uint32[references, systems, segments, character_orders]?,
 * word_lengths: int64[(references + systems) * segments]?, words: uint32[references, systems, segments, word_orders]?,
 * present: uint8[references, segments]. Writes out: float64[systems, segments, 3 * (character_orders + word_orders)]. */
KERNEL int64_t steelyard_chrf_statistics(const int64_t *character_lengths, const uint32_t *characters,
                                         const int64_t *word_lengths, const uint32_t *words, const uint8_t *present,
                                         int64_t references, int64_t systems, int64_t segments,
                                         int64_t character_orders, int64_t word_orders, double beta_squared,
                                         int64_t effective, double *out) {
    const Level levels[2] = {{character_lengths, characters, (size_t)character_orders},
                             {word_lengths, words, (size_t)word_orders}};
    const int64_t orders = character_orders + word_orders;
    const size_t row = 3 * (size_t)orders;
    for (int64_t s = 0; s < systems; s++)
        for (int64_t i = 0; i < segments; i++, out += row) {
            double best = -1.0;
            memset(out, 0, row * sizeof *out);
            for (int64_t k = 0; k < references; k++) {
                if (!present[k * segments + i]) continue;
                double statistics[6 * LARGEST_ORDER], *at = statistics;
                for (const Level *level = levels; level < levels + 2; level++) {
                    if (!level->orders) continue;
                    const size_t hypothesis = (size_t)level->lengths[(references + s) * segments + i];
                    const size_t reference = (size_t)level->lengths[k * segments + i];
                    const uint32_t *shared =
                        level->shared + (size_t)((k * systems + s) * segments + i) * level->orders;
                    at = write_row(at, shared, hypothesis, reference, level->orders);
                }
                const double score = references > 1 ? chrf_score(statistics, orders, beta_squared, effective) : 0.0;
                if (!(score > best)) continue;
                best = score;
                memcpy(out, statistics, row * sizeof *out);
            }
        }
    return 0;
}
