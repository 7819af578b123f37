/* LeBLEU's statistics: each n-gram of the hypothesis counts its similarity to the reference's n-grams that are most
 * similar to it (Virpioja and Gronroos 2015). */
#include "fuzzy_ngrams.h"
#include "kernel.h"

enum { SAMPLED = 2000 };
static const int64_t WHOLE = (int64_t)1 << 50; /* similarities are added in these parts: no order of adding matters */

/* Whether the n-grams that begin at a word belong to the sample of a text with so many words. */
static inline int is_sampled(int64_t start, int64_t words, int64_t limit) {
    if (words <= limit) return 1;
    if (words > 2 * limit) return start % (words / limit) == 0;
    int64_t stride = words / (words - limit);
    return start % stride < stride - 1;
}

typedef struct {
    FuzzyNgrams ngrams;
    int64_t order, systems;
    Similarity *similarities; /* of all nodes */
    int32_t *paths;           /* the node of each sampled n-gram of each hypothesis in turn */
    int64_t *path_starts;     /* of each hypothesis */
    int64_t *credit;          /* of each sampled n-gram: what it and its repetitions count, at its first place */
    int32_t *count;           /* of each node, 0 between uses */
} LebleuWork;

/* Calls for each sampled n-gram are made in the order of `paths`. */
static inline int64_t ngrams_at(int64_t start, int64_t words, int64_t order, int64_t limit) {
    return is_sampled(start, words, limit) ? smaller(order, words - start) : 0;
}

static int64_t sample_size(int64_t words, int64_t order) {
    int64_t size = 0;
    for (int64_t start = 0; start < words; start++) size += ngrams_at(start, words, order, SAMPLED / order);
    return size;
}

/* Enters the n-grams of all hypotheses. `rows`: starts of the segment's first hypothesis; `stride` to the next one. */
static void enter_hypotheses(LebleuWork *work, const int32_t *ids, const int64_t *rows, int64_t stride) {
    FuzzyNgrams *ngrams = &work->ngrams;
    int64_t path = 0, similarities = 0, sampled = 0;
    for (int64_t s = 0; s < work->systems; s++)
        sampled += sample_size(rows[s * stride + 1] - rows[s * stride], work->order);
    trie_clear(&ngrams->trie, (size_t)sampled + 1);
    for (int64_t s = 0; s < work->systems; s++) {
        const int32_t *words = ids + rows[s * stride];
        int64_t length = rows[s * stride + 1] - rows[s * stride];
        work->path_starts[s] = path;
        for (int64_t start = 0; start < length; start++) {
            int64_t orders = ngrams_at(start, length, work->order, SAMPLED / work->order);
            int32_t node = 0;
            for (int64_t k = 0; k < orders; k++) {
                int32_t parent = node, used = ngrams->trie.used;
                node = trie_child_or_new(&ngrams->trie, node, words[start + k]);
                if (node == used) describe(ngrams, &ngrams->nodes[node], parent, words[start + k]);
                FuzzyNgram *entered = &ngrams->nodes[node];
                entered->most = (int32_t)larger(entered->most, ++work->count[node]);
                work->paths[path++] = node;
            }
        }
        for (int64_t at = work->path_starts[s]; at < path; at++) work->count[work->paths[at]] = 0;
    }
    work->path_starts[work->systems] = path;
    for (int32_t k = 1; k < ngrams->trie.used; k++) {
        ngrams->nodes[k].best = work->similarities + similarities;
        similarities += ngrams->nodes[k].most;
    }
    memset(work->credit, 0, (size_t)path * sizeof *work->credit);
}

static void compare_reference(LebleuWork *work, const int32_t *words, int64_t length) {
    FuzzyNgrams *ngrams = &work->ngrams;
    int64_t deepest = 2 * work->order, limit = SAMPLED / deepest;
    for (int32_t k = 1; k < ngrams->trie.used; k++)
        for (int32_t t = 0; t < ngrams->nodes[k].most; t++) ngrams->nodes[k].best[t] = (Similarity){0, 1};
    for (int64_t start = 0; start < length; start++)
        offer_equal(ngrams, words + start, ngrams_at(start, length, deepest, limit));
    int64_t longest = find_needed(ngrams);
    for (int64_t start = 0; start < length && longest; start++) {
        int64_t orders = ngrams_at(start, length, deepest, limit);
        if (orders) compare_from(ngrams, words + start, orders, longest);
    }
}

/* Each distinct n-gram of a hypothesis counts the best similarities, as many as it has occurrences; of several
 * references that with the largest sum. */
static void give_credit(LebleuWork *work) {
    for (int64_t s = 0; s < work->systems; s++) {
        const int32_t *paths = work->paths;
        int64_t begin = work->path_starts[s], end = work->path_starts[s + 1];
        for (int64_t at = begin; at < end; at++) work->count[paths[at]]++;
        for (int64_t at = begin; at < end; at++) {
            const FuzzyNgram *node = &work->ngrams.nodes[paths[at]];
            int64_t sum = 0;
            for (int32_t t = 0; t < work->count[paths[at]]; t++) {
                Similarity best = node->best[t];
                if (ratio(best.common, best.length) < work->ngrams.threshold) break;
                sum += (2 * best.common * WHOLE + best.length) / (2 * best.length);
            }
            work->credit[at] = larger(work->credit[at], sum);
            work->count[paths[at]] = 0;
        }
    }
}

/* Sums up a hypothesis: hits and totals of each order. */
static void sum_up(const LebleuWork *work, int64_t system, int64_t length, double *out) {
    int64_t sums[NGRAM_ORDERS] = {0}, totals[NGRAM_ORDERS] = {0}, at = work->path_starts[system];
    for (int64_t start = 0; start < length; start++) {
        int64_t orders = ngrams_at(start, length, work->order, SAMPLED / work->order);
        for (int64_t k = 0; k < orders; k++) {
            sums[k] += work->credit[at++];
            totals[k]++;
        }
    }
    for (int64_t k = 0; k < work->order; k++) {
        int64_t part = WHOLE >> 24;
        out[k] = (double)((sums[k] + part / 2) / part) / (double)(1 << 24);
        out[work->order + k] = (double)totals[k];
    }
}

static int open_work(LebleuWork *work, int64_t ngrams, int64_t alphabet) {
    FuzzyNgrams *of = &work->ngrams;
    of->nodes = malloc(((size_t)ngrams + 1) * sizeof *of->nodes);
    of->rows = malloc(((size_t)ngrams + 1) * NGRAM_PARTS * sizeof *of->rows);
    of->needed = malloc(((size_t)ngrams + 1) * sizeof *of->needed);
    of->places = calloc((size_t)alphabet * NGRAM_PARTS, sizeof *of->places);
    work->similarities = malloc(((size_t)ngrams + 1) * sizeof *work->similarities);
    work->paths = malloc(((size_t)ngrams + 1) * sizeof *work->paths);
    work->path_starts = malloc(((size_t)work->systems + 1) * sizeof *work->path_starts);
    work->credit = malloc(((size_t)ngrams + 1) * sizeof *work->credit);
    work->count = calloc((size_t)ngrams + 1, sizeof *work->count);
    int tables = of->nodes && of->rows && of->needed && of->places && work->similarities && work->paths;
    if (!tables || !work->path_starts || !work->credit || !work->count) return -1;
    return trie_allocate(&of->trie, (size_t)ngrams + 1);
}

static void close_work(LebleuWork *work) {
    free(work->ngrams.nodes);
    free(work->ngrams.rows);
    free(work->ngrams.needed);
    free(work->ngrams.places);
    free(work->similarities);
    free(work->paths);
    free(work->path_starts);
    free(work->credit);
    free(work->count);
    trie_free(&work->ngrams.trie);
}

/*
 * letters: of each word, numbers from 1 to alphabet - 1. order: up to NGRAM_ORDERS / 2. out: (systems, segments,
 * 2 * order + 2): hits and totals of each order, characters of the hypothesis and of the reference with the closest
 * number. present: (references, segments). Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], letters: int32[letter_starts[-1]], letter_starts: int64[*]. Writes
 * out: float64[systems, segments, 2 * order + 2].
 */
KERNEL int64_t steelyard_lebleu_statistics(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                           const int32_t *letters, const int64_t *letter_starts, int64_t alphabet,
                                           int64_t references, int64_t systems, int64_t segments, int64_t order,
                                           double threshold, double *out) {
    int64_t most = 0, result = OUT_OF_MEMORY;
    for (int64_t i = 0; i < segments; i++) {
        int64_t ngrams = 0;
        for (int64_t s = 0; s < systems; s++) {
            const int64_t *row = starts + (references + s) * segments + i;
            ngrams += sample_size(row[1] - row[0], order);
        }
        most = larger(most, ngrams);
    }
    if (most >= INT32_MAX / NGRAM_PARTS) return TOO_MANY_WORDS;
    LebleuWork work = {.order = order, .systems = systems};
    work.ngrams.spelling = (Spelling){letters, letter_starts};
    work.ngrams.threshold = threshold;
    if (open_work(&work, most, alphabet)) goto done;

    for (int64_t i = 0; i < segments; i++) {
        enter_hypotheses(&work, ids, starts + references * segments + i, segments);
        for (int64_t s = 0; s < systems; s++) {
            const int64_t *row = starts + (references + s) * segments + i;
            double *statistics = out + (s * segments + i) * (2 * order + 2) + 2 * order;
            int64_t own = characters_of(&work.ngrams.spelling, ids + row[0], row[1] - row[0]), closest = -1;
            for (int64_t r = 0; r < references; r++) {
                const int64_t *other = starts + r * segments + i;
                if (!present[r * segments + i]) continue;
                int64_t theirs = characters_of(&work.ngrams.spelling, ids + other[0], other[1] - other[0]);
                closest = closer(closest, theirs, own);
            }
            statistics[0] = (double)own;
            statistics[1] = (double)closest;
        }
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (!present[r * segments + i]) continue;
            compare_reference(&work, ids + row[0], row[1] - row[0]);
            give_credit(&work);
        }
        for (int64_t s = 0; s < systems; s++) {
            const int64_t *row = starts + (references + s) * segments + i;
            sum_up(&work, s, row[1] - row[0], out + (s * segments + i) * (2 * order + 2));
        }
    }
    result = 0;
done:
    close_work(&work);
    return result;
}
