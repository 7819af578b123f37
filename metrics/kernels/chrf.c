/* chrF's statistics for a whole shard: see chrf.py. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "overlap.h"

typedef struct {
    const uint32_t *codes;
    const int64_t *starts, *words, *word_starts;
    int64_t rows;
} Texts;

/* The symbols of all rows of one segment; those of row r (references, then systems) begin at starts[r]. */
typedef struct {
    Buffer symbols;
    Buffer starts;
    size_t width;
} Sequences;

/* The distinct words of a segment's references, as a hash table of places in `codes`. */
typedef struct {
    Buffer table; /* index into `known`, plus 1; 0 is free */
    Buffer known;
    size_t mask;
} Vocabulary;

typedef struct {
    int64_t begin, end;
    uint64_t hash;
} Word;

/* As in string.punctuation: every printable ASCII character that is no letter, digit or blank. */
static inline int is_punctuation(uint32_t code) {
    return code > 32 && code < 127 && !(code - '0' < 10) && !((code | 32) - 'a' < 26);
}

static inline uint64_t word_hash(const uint32_t *codes, int64_t begin, int64_t end) {
    uint64_t hash = (uint64_t)(end - begin);
    for (int64_t i = begin; i < end; i++) {
        hash = (hash ^ codes[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Where the word stands in the table, or the free place where it would. */
static inline uint32_t *find_word(Vocabulary *vocabulary, const uint32_t *codes, const Word *word) {
    uint32_t *const table = vocabulary->table.memory;
    const Word *const known = vocabulary->known.memory;
    const size_t bytes = (size_t)(word->end - word->begin) * sizeof *codes;
    for (size_t at = word->hash & vocabulary->mask;; at = (at + 1) & vocabulary->mask) {
        if (!table[at]) return &table[at];
        const Word *other = &known[table[at] - 1];
        if (other->hash == word->hash && other->end - other->begin == word->end - word->begin &&
            !memcmp(codes + other->begin, codes + word->begin, bytes))
            return &table[at];
    }
}

/* Cuts word `index` of a text as chrF does, into one or two; returns how many. */
static inline int cut_word(const Texts *texts, int64_t index, Word pieces[2]) {
    const int64_t begin = texts->words[index], end = texts->words[index + 1];
    int64_t cut = end;
    if (end - begin > 1) {
        if (is_punctuation(texts->codes[end - 1])) cut = end - 1;
        else if (is_punctuation(texts->codes[begin])) cut = begin + 1;
    }
    pieces[0] = (Word){begin, cut, word_hash(texts->codes, begin, cut)};
    if (cut == end) return 1;
    pieces[1] = (Word){cut, end, word_hash(texts->codes, cut, end)};
    return 2;
}

static uint32_t largest_code(const Texts *texts) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < texts->starts[texts->rows]; i++)
        largest = texts->codes[i] > largest ? texts->codes[i] : largest;
    return largest;
}

static int start_sequences(Sequences *sequences, size_t rows, size_t symbols) {
    return reserve(&sequences->starts, (rows + 1) * sizeof(size_t)) ||
           reserve(&sequences->symbols, (symbols + 1) * sizeof(uint32_t));
}

/* Row numbers of segment `segment`: every `segments`-th. */
static int character_symbols(Sequences *sequences, const Texts *texts, uint32_t *symbol_of,
                             int64_t references, int64_t segments, int64_t segment) {
    size_t total = 0, row = 0;
    for (int64_t r = segment; r < texts->rows; r += segments)
        total += (size_t)(texts->starts[r + 1] - texts->starts[r]);
    if (start_sequences(sequences, (size_t)(texts->rows / segments), total)) return -1;
    uint32_t *out = sequences->symbols.memory, known = 0;
    size_t *starts = sequences->starts.memory;
    total = 0;
    for (int64_t r = segment; r < texts->rows; r += segments, row++) {
        const uint32_t *at = texts->codes + texts->starts[r];
        const uint32_t *const end = texts->codes + texts->starts[r + 1];
        starts[row] = total;
        if ((int64_t)row < references)
            for (; at < end; at++) {
                uint32_t *symbol = &symbol_of[*at];
                if (!*symbol) *symbol = ++known;
                out[total++] = *symbol;
            }
        else
            for (; at < end; at++) out[total++] = symbol_of[*at];
    }
    starts[row] = total;
    sequences->width = (size_t)known + 1;
    for (int64_t r = segment; r < references * segments; r += segments)
        for (int64_t i = texts->starts[r]; i < texts->starts[r + 1]; i++)
            symbol_of[texts->codes[i]] = 0;
    return 0;
}

static int word_symbols(Sequences *sequences, const Texts *texts, Vocabulary *vocabulary, int64_t references,
                        int64_t segments, int64_t segment) {
    size_t total = 0, row = 0, in_references = 0, room = 16;
    for (int64_t r = segment; r < texts->rows; r += segments) {
        total += 2 * (size_t)(texts->word_starts[r + 1] - texts->word_starts[r]);
        if (r < references * segments) in_references = total;
    }
    while (room < 2 * in_references) room *= 2;
    if (start_sequences(sequences, (size_t)(texts->rows / segments), total) ||
        reserve(&vocabulary->table, room * sizeof(uint32_t)) ||
        reserve(&vocabulary->known, (in_references + 1) * sizeof(Word)))
        return -1;
    memset(vocabulary->table.memory, 0, room * sizeof(uint32_t));
    vocabulary->mask = room - 1;
    uint32_t *out = sequences->symbols.memory, known = 0;
    size_t *starts = sequences->starts.memory;
    total = 0;
    for (int64_t r = segment; r < texts->rows; r += segments, row++) {
        starts[row] = total;
        for (int64_t index = texts->word_starts[r]; index < texts->word_starts[r + 1]; index++) {
            Word pieces[2];
            const int count = cut_word(texts, index, pieces);
            for (int piece = 0; piece < count; piece++) {
                uint32_t *place = find_word(vocabulary, texts->codes, &pieces[piece]);
                if (!*place && (int64_t)row < references) {
                    ((Word *)vocabulary->known.memory)[known] = pieces[piece];
                    *place = ++known;
                }
                out[total++] = *place;
            }
        }
    }
    starts[row] = total;
    sequences->width = (size_t)known + 1;
    return 0;
}

/* Writes (n-grams of the hypothesis, of the reference, common) for each order. An order the reference does
 * not reach has no n-grams on either side. */
static void write_row(double *out, const uint64_t *matches, size_t hypothesis, size_t reference, int orders) {
    for (size_t n = 1; n <= (size_t)orders; n++) {
        const size_t of_reference = reference >= n ? reference - n + 1 : 0;
        const size_t of_hypothesis = hypothesis >= n && of_reference ? hypothesis - n + 1 : 0;
        *out++ = (double)of_hypothesis;
        *out++ = (double)of_reference;
        *out++ = (double)matches[n - 1];
    }
}

/* The score of one segment against one reference, each operation in the order of the definition: which of two
 * references is better may hang on the last bit. `factor` is beta squared. */
static double f_score(const double *statistics, int orders, double factor) {
    double precision = 0.0, recall = 0.0, effective = 0.0;
    for (int i = 0; i < orders; i++) {
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

typedef struct {
    Ngrams ngrams;
    Sequences sequences;
    int orders;
} Level;

static int match_row(Level *level, size_t row, double *out) {
    uint64_t matches[LARGEST_ORDER];
    const size_t *starts = level->sequences.starts.memory;
    const size_t length = starts[row + 1] - starts[row];
    const uint32_t *symbols = (uint32_t *)level->sequences.symbols.memory + starts[row];
    ngrams_overlap(&level->ngrams, symbols, length, matches);
    write_row(out, matches, length, level->ngrams.length, level->orders);
    return 3 * level->orders;
}

static int build_row(Level *level, size_t row) {
    const size_t *starts = level->sequences.starts.memory;
    return ngrams_build(&level->ngrams, (uint32_t *)level->sequences.symbols.memory + starts[row],
                        starts[row + 1] - starts[row], level->sequences.width, level->orders);
}

/* Row t * segments + i is segment i of text t; texts are `references` references, then the systems.
 * `present` has a 0 where a segment lacks a reference. Writes (system, segment, 3 * (characters + words))
 * numbers to `out`. Returns 0, or -1 when out of memory. */
int64_t chrf_statistics(const uint32_t *codes, const int64_t *starts, const int64_t *words,
                        const int64_t *word_starts, const uint8_t *present, int64_t references,
                        int64_t systems, int64_t segments, int64_t characters, int64_t word_orders,
                        double factor, double *out) {
    const Texts texts = {codes, starts, words, word_starts, (references + systems) * segments};
    if (characters < 0 || characters > LARGEST_ORDER || word_orders < 0 || word_orders > LARGEST_ORDER)
        return -2;
    Level levels[2] = {{.orders = (int)characters}, {.orders = (int)word_orders}};
    const int orders = (int)(characters + word_orders);
    const size_t columns = 3 * (size_t)orders;
    Vocabulary vocabulary = {0};
    int64_t result = -1;
    uint32_t *symbol_of = calloc((size_t)largest_code(&texts) + 1, sizeof *symbol_of);
    double *best = malloc(((size_t)systems + 1) * sizeof *best);
    if (!symbol_of || !best) goto done;
    for (int64_t i = 0; i < segments; i++) {
        if (characters && character_symbols(&levels[0].sequences, &texts, symbol_of, references, segments, i))
            goto done;
        if (word_orders && word_symbols(&levels[1].sequences, &texts, &vocabulary, references, segments, i))
            goto done;
        int64_t candidates = 0;
        for (int64_t k = 0; k < references; k++) {
            if (!present[k * segments + i]) continue;
            candidates++;
            if (characters && build_row(&levels[0], (size_t)k)) goto done;
            if (word_orders && build_row(&levels[1], (size_t)k)) goto done;
            for (int64_t s = 0; s < systems; s++) {
                double statistics[6 * LARGEST_ORDER], *at = statistics;
                const size_t row = (size_t)(references + s);
                if (characters) at += match_row(&levels[0], row, at);
                if (word_orders) match_row(&levels[1], row, at);
                const double score = references > 1 ? f_score(statistics, orders, factor) : 0;
                if (candidates > 1 && !(score > best[s])) continue;
                best[s] = score;
                memcpy(out + (size_t)(s * segments + i) * columns, statistics, columns * sizeof *out);
            }
        }
        for (int64_t s = 0; s < systems && !candidates; s++)
            memset(out + (size_t)(s * segments + i) * columns, 0, columns * sizeof *out);
    }
    result = 0;
done:
    for (int level = 0; level < 2; level++) {
        ngrams_free(&levels[level].ngrams);
        free(levels[level].sequences.symbols.memory);
        free(levels[level].sequences.starts.memory);
    }
    free(vocabulary.table.memory);
    free(vocabulary.known.memory);
    free(symbol_of);
    free(best);
    return result;
}
