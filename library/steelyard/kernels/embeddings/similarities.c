/* Hypotheses compared with references by the vectors of their words (Wang and Merlo 2016): n-grams by the cosine of
 * their mean vectors, sentences by a Levenshtein distance in which similar words cost less. */
#include "comparing.h"
#include "gram_matrix.h"
#include "kernel.h"
#include "soft_distance.h"
#include "soft_ngrams.h"

/* Longer segments are compared in pieces, so that time grows with their length only; systems are taken together as
 * long as they have no more words than a group may. */
enum { LARGEST_PIECE = 1024, LARGEST_GROUP = 4096 };

/* A part of a text: n-grams begin at its first `length` words and may end in the `reach` words from there. */
typedef struct {
    const int32_t *words;
    int64_t length, reach;
    int64_t place;     /* of its first word among those of all hypotheses */
    int64_t *distance; /* (2, ...) to be added to: with costs of substitutions up to 1, and up to 2 */
} Part;

typedef struct {
    Gram gram;
    SoftNgrams ngrams;
    int32_t *costs;        /* (hypothesis words with a vector, columns): of substitutions */
    int32_t *unlike;       /* (1 + words of a part, room): of words without a vector; the first row is of those
                            * that the reference lacks */
    int64_t room;          /* for columns */
    const int32_t **rows;  /* by word of one hypothesis: its costs */
    int64_t *last;
    int64_t words, *best;  /* of all hypotheses; (deepest, words) */
    int64_t distances;     /* from a clamped distance to the other */
} SimilarityWork;

static void find_costs(SimilarityWork *w) {
    const Gram *gram = &w->gram;
    for (int64_t h = 0; h < gram->own; h++) {
        double inverse = inverse_length(gram->squares[h], gram->squares[h]);
        for (int64_t j = 0; j < gram->columns; j++) {
            double similarity = gram->products[h * gram->columns + j] * w->ngrams.inverses[j] * inverse;
            double parts = (1 - similarity) * EDIT + 0.5;
            int same = gram->reference[j] == gram->entered[h], possible = parts >= 0 && parts < 2.0 * EDIT + 1;
            w->costs[h * gram->columns + j] = same || !possible ? 0 : (int32_t)parts;
        }
    }
}

static void add_distances(SimilarityWork *w, const Part *part, int64_t length) {
    const Gram *gram = &w->gram;
    int32_t *unlike = w->unlike;
    for (int64_t i = 0; i < part->length; i++) {
        int32_t slot = gram->slot[part->words[i]], first = gram->column[part->words[i]];
        if (slot >= 0) {
            w->rows[i] = w->costs + slot * gram->columns;
        } else if (first < 0 || first >= length) {
            w->rows[i] = w->unlike;
        } else {
            /* An unknown word that the reference has gets a row of its own. */
            unlike += w->room;
            for (int64_t j = 0; j < length; j++) unlike[j] = gram->reference[j] == part->words[i] ? 0 : EDIT;
            w->rows[i] = unlike;
        }
    }
    part->distance[0] += soft_distance(w->rows, part->length, length, EDIT, w->last);
    part->distance[w->distances] += soft_distance(w->rows, part->length, length, 2 * EDIT, w->last);
}

/* Compares some parts of hypotheses with a part of a reference, whose whole is needed for n-grams that are equal. */
static void compare(SimilarityWork *w, const Part *parts, int64_t count, const Part *reference, const Part *whole) {
    Gram *gram = &w->gram;
    SoftNgrams *ngrams = &w->ngrams;
    int64_t words = 0, places = 0;
    for (int64_t k = 0; k < count; k++) {
        words += parts[k].reach;
        enter(gram, parts[k].words, parts[k].reach);
    }
    gram->own = gram->used;
    gram->reference = reference->words;
    gram->columns = reference->reach;
    for (int64_t j = reference->reach; j-- > 0;) gram->column[reference->words[j]] = (int32_t)j;
    enter(gram, reference->words, reference->reach);
    trie_clear(&gram->pairs, (size_t)((words + reference->reach) * ngrams->deepest) + 1);
    trie_clear(&ngrams->trie, (size_t)(words * ngrams->deepest) + 1);
    multiply(gram);
    measure_reference(gram, reference->length, ngrams->deepest, ngrams->inverses);

    for (int64_t k = 0; k < count; k++, places += parts[k - 1].length * ngrams->deepest)
        number_ngrams(ngrams, parts[k].words, parts[k].length, parts[k].reach, ngrams->nodes + places);
    if (words) find_identical(ngrams, whole->words, whole->length);
    const int32_t *nodes = ngrams->nodes;
    find_costs(w);
    for (int64_t k = 0; k < count; k++) {
        for (int64_t begin = 0; begin < parts[k].length; begin++, nodes += ngrams->deepest) {
            compare_ngrams(ngrams, gram, parts[k].words + begin, nodes, reference->length);
            int64_t *best = w->best + parts[k].place + begin;
            for (int64_t n = 0; n < ngrams->deepest && nodes[n] >= 0; n++)
                if (best[n * w->words] < ngrams->best[nodes[n]]) best[n * w->words] = ngrams->best[nodes[n]];
        }
        add_distances(w, parts + k, reference->length);
    }
    clear_gram(gram);
}

/* The p-th of so many pieces of a text. */
static Part piece(const Part *text, int64_t p, int64_t pieces, int64_t deepest) {
    int64_t begin = p * text->length / pieces, end = (p + 1) * text->length / pieces;
    int64_t reach = begin < end ? smaller(end + deepest - 1, text->length) - begin : 0;
    return (Part){text->words + begin, end - begin, reach, text->place + begin, text->distance};
}

static void compare_with_reference(SimilarityWork *w, const Part *texts, int64_t count, const Part *reference,
                                   Part *group) {
    int64_t members = 0, words = 0;
    for (int64_t k = 0; k <= count; k++) {
        int64_t longer = k < count && texts[k].length > reference->length ? texts[k].length : reference->length;
        int64_t pieces = (longer + LARGEST_PIECE - 1) / LARGEST_PIECE;
        if (members && (k == count || pieces > 1 || words + texts[k].length > LARGEST_GROUP)) {
            compare(w, group, members, reference, reference);
            members = words = 0;
        }
        if (k == count) break;
        if (pieces <= 1) {
            group[members++] = texts[k];
            words += texts[k].length;
        }
        for (int64_t p = 0; pieces > 1 && p < pieces; p++) {
            Part own = piece(texts + k, p, pieces, w->ngrams.deepest);
            Part other = piece(reference, p, pieces, w->ngrams.deepest);
            compare(w, &own, 1, &other, reference);
        }
    }
}

static Part row_of(const int32_t *ids, const int64_t *starts, int64_t row) {
    int64_t length = starts[row + 1] - starts[row];
    return (Part){ids + starts[row], length, length, 0, NULL};
}

static int allocate(SimilarityWork *w, int64_t types, int64_t hypotheses, int64_t reference) {
    SoftNgrams *ngrams = &w->ngrams;
    int64_t deepest = ngrams->deepest;
    size_t nodes = (size_t)(hypotheses * deepest) + 1, columns = (size_t)reference + 1;
    ngrams->best = malloc(nodes * sizeof *ngrams->best);
    ngrams->nodes = malloc(nodes * sizeof *ngrams->nodes);
    ngrams->sums = malloc(columns * sizeof *ngrams->sums);
    ngrams->windows = malloc(columns * sizeof *ngrams->windows);
    ngrams->inverses = malloc(columns * (size_t)deepest * sizeof *ngrams->inverses);
    w->costs = malloc(((size_t)hypotheses + 1) * columns * sizeof *w->costs);
    w->unlike = malloc((smaller(hypotheses, LARGEST_PIECE) + 1) * columns * sizeof *w->unlike);
    w->rows = malloc(((size_t)hypotheses + 1) * sizeof *w->rows);
    w->last = malloc(columns * sizeof *w->last);
    if (!ngrams->best || !ngrams->nodes || !ngrams->sums || !ngrams->windows || !ngrams->inverses || !w->costs ||
        !w->unlike || !w->rows || !w->last || trie_allocate(&ngrams->trie, nodes))
        return -1;
    w->room = (int64_t)columns;
    for (size_t j = 0; j < columns; j++) w->unlike[j] = EDIT;
    return gram_allocate(&w->gram, types, hypotheses, reference, (hypotheses + reference) * deepest);
}

static void release(SimilarityWork *w) {
    gram_free(&w->gram);
    trie_free(&w->ngrams.trie);
    free(w->ngrams.best);
    free(w->ngrams.nodes);
    free(w->ngrams.sums);
    free(w->ngrams.windows);
    free(w->ngrams.inverses);
    free(w->costs);
    free(w->unlike);
    free(w->rows);
    free(w->last);
}

/*
 * rows: by word, its row in vectors (any number of rows, size), or -1. best: (deepest, words of all hypotheses): how
 * similar the n-gram that begins there is to the one in any reference that it resembles most, in parts of 2^40; 0
 * where none begins. distances: (2, references, systems, segments), in parts of 2^24, with substitutions that cost up
 * to 1 and up to 2; -1 where present (references, segments) is 0. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], rows: int32[types], vectors: float32[*, *]. Writes
 * best: int64[deepest, starts[-1] - starts[references * segments]],
 * distances: int64[2, references, systems, segments].
 */
KERNEL int64_t steelyard_similarities(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                      const int32_t *rows, const float *vectors, int64_t size, int64_t types,
                                      int64_t references, int64_t systems, int64_t segments, int64_t deepest,
                                      int64_t *best, int64_t *distances) {
    int64_t first = starts[references * segments], words = starts[(references + systems) * segments] - first;
    int64_t longest_reference = 0, most_words = 0, result = OUT_OF_MEMORY;
    for (int64_t i = 0; i < segments; i++) {
        int64_t of_segment = 0;
        for (int64_t text = 0; text < references + systems; text++) {
            int64_t length = starts[text * segments + i + 1] - starts[text * segments + i];
            if (text >= references) of_segment += length;
            else if (length > longest_reference) longest_reference = length;
        }
        if (of_segment > most_words) most_words = of_segment;
    }
    SimilarityWork w = {.gram = {.vectors = vectors, .rows = rows, .size = size}, .ngrams = {.deepest = deepest}};
    w.words = words;
    w.best = best;
    w.distances = references * systems * segments;
    Part *texts = malloc(((size_t)systems + 1) * sizeof *texts), *group = malloc(((size_t)systems + 1) * sizeof *group);
    if (!texts || !group ||
        allocate(&w, types, smaller(most_words, LARGEST_GROUP) + deepest,
                 smaller(longest_reference, LARGEST_PIECE) + deepest))
        goto done;
    for (int64_t at = 0; at < deepest * words; at++) best[at] = 0;
    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            for (int64_t s = 0; s < systems; s++) {
                texts[s] = row_of(ids, starts, (references + s) * segments + i);
                texts[s].place = texts[s].words - ids - first;
                texts[s].distance = distances + (r * systems + s) * segments + i;
                texts[s].distance[0] = texts[s].distance[w.distances] = present[r * segments + i] ? 0 : -1;
            }
            Part reference = row_of(ids, starts, r * segments + i);
            if (present[r * segments + i]) compare_with_reference(&w, texts, systems, &reference, group);
        }
    }
    result = 0;
done:
    release(&w);
    free(texts);
    free(group);
    return result;
}
