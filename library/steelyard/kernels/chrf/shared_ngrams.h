/* The n-grams that each system shares with each reference of a segment. */
#ifndef SHARED_NGRAMS_H
#define SHARED_NGRAMS_H

#include "overlap.h"

/* The symbols of all rows of one segment; those of row r (references, then systems) begin at starts[r]. */
typedef struct {
    Buffer symbols;
    Buffer starts;
    size_t width; /* symbols are below it; 0 stands for what no reference has */
} Sequences;

static inline void sequences_free(Sequences *sequences) {
    free(sequences->symbols.memory);
    free(sequences->starts.memory);
}

static inline int sequences_room(Sequences *sequences, size_t rows, size_t symbols) {
    return reserve(&sequences->starts, (rows + 1) * sizeof(size_t)) ||
           reserve(&sequences->symbols, (symbols + 1) * sizeof(uint32_t));
}

static inline const uint32_t *sequence(const Sequences *sequences, size_t row, size_t *length) {
    const size_t *starts = sequences->starts.memory;
    *length = starts[row + 1] - starts[row];
    return (const uint32_t *)sequences->symbols.memory + starts[row];
}

/* The first of the rows from `from` on that is the same as `row`: many systems translate a short segment alike. */
static inline size_t first_alike(const Sequences *sequences, size_t from, size_t row) {
    size_t length, of_other;
    const uint32_t *symbols = sequence(sequences, row, &length);
    for (size_t other = from; other < row; other++) {
        const uint32_t *others = sequence(sequences, other, &of_other);
        if (length == of_other && !memcmp(symbols, others, length * sizeof *symbols)) return other;
    }
    return row;
}

/* Segment `segment` of out: (references, systems, segments, orders), where `present`: (references, segments) is not
 * 0. Returns 0, or -1 when out of memory. */
static inline int shared_ngrams(NgramOverlap *ngrams, const Sequences *sequences, const uint8_t *present,
                                size_t references, size_t systems, size_t segments, size_t segment, int orders,
                                uint32_t *out) {
    for (size_t k = 0; k < references; k++) {
        size_t length;
        if (!present[k * segments + segment]) continue;
        const uint32_t *symbols = sequence(sequences, k, &length);
        const int failed = ngrams_build(ngrams, symbols, length, sequences->width, orders);
        if (failed) return failed;
        for (size_t s = 0; s < systems; s++) {
            uint32_t *matches = out + ((k * systems + s) * segments + segment) * (size_t)orders;
            const size_t alike = first_alike(sequences, references, references + s) - references;
            if (alike < s) {
                const uint32_t *known = out + ((k * systems + alike) * segments + segment) * (size_t)orders;
                memcpy(matches, known, (size_t)orders * sizeof *matches);
                continue;
            }
            symbols = sequence(sequences, references + s, &length);
            if (ngrams_overlap(ngrams, symbols, length, matches)) return -1;
        }
    }
    return 0;
}
#endif
