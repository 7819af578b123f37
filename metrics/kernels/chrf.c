/* chrF's statistics for a whole shard: see chrf.py. */
#include <stdint.h>
#include <string.h>

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

/* The score of one segment against one reference, each operation in the order of the definition: which of two
 * references is better may hang on the last bit. `factor` is beta squared. */
static double f_score(const double *statistics, size_t orders, double factor) {
    double precision = 0.0, recall = 0.0, effective = 0.0;
    for (size_t i = 0; i < orders; i++) {
        const double hypothesis = statistics[3 * i], reference = statistics[3 * i + 1];
        if (hypothesis > 0 && reference > 0) {
            precision += statistics[3 * i + 2] / hypothesis;
            recall += statistics[3 * i + 2] / reference;
            effective += 1;
        }
    }
    if (effective > 0) {
        precision /= effective;
        recall /= effective;
    }
    if (!(precision + recall > 0)) return 0.0;
    const double product = (1 + factor) * precision * recall;
    return 100 * (product / (factor * precision + recall));
}

/* Writes (systems, segments, 3 * (characters + words)) numbers: those of the best reference that is present, the
 * first one of equals. present: (references, segments). Rows of the lengths: references, then systems. */
int64_t chrf_statistics(const int64_t *character_lengths, const uint32_t *characters, const int64_t *word_lengths,
                        const uint32_t *words, const uint8_t *present, int64_t references, int64_t systems,
                        int64_t segments, int64_t character_orders, int64_t word_orders, double factor, double *out) {
    const Level levels[2] = {{character_lengths, characters, (size_t)character_orders},
                             {word_lengths, words, (size_t)word_orders}};
    const size_t orders = (size_t)(character_orders + word_orders);
    if (character_orders > LARGEST_ORDER || word_orders > LARGEST_ORDER) return -2;
    for (int64_t s = 0; s < systems; s++)
        for (int64_t i = 0; i < segments; i++, out += 3 * orders) {
            double best = -1.0;
            memset(out, 0, 3 * orders * sizeof *out);
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
                const double score = references > 1 ? f_score(statistics, orders, factor) : 0.0;
                if (!(score > best)) continue;
                best = score;
                memcpy(out, statistics, 3 * orders * sizeof *out);
            }
        }
    return 0;
}
