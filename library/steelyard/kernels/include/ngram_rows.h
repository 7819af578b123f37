/* The words of all texts of a batch by segment, references first. */
#ifndef NGRAM_ROWS_H
#define NGRAM_ROWS_H

#include "comparing.h"

typedef struct {
    const int32_t *ids;
    const int64_t *starts;
    const uint8_t *present; /* (references, segments) */
    int64_t references, segments;
} Rows;

typedef struct {
    const int32_t *words;
    int64_t length;
} Row;

static inline Row row_of(const Rows *rows, int64_t text, int64_t segment) {
    const int64_t *start = rows->starts + text * rows->segments + segment;
    return (Row){rows->ids + start[0], start[1] - start[0]};
}

static inline int is_present(const Rows *rows, int64_t reference, int64_t segment) {
    return rows->present[reference * rows->segments + segment];
}

/* How many words the references of a segment have together. */
static inline int64_t words_of_references(const Rows *rows, int64_t segment) {
    int64_t words = 0;
    for (int64_t r = 0; r < rows->references; r++)
        if (is_present(rows, r, segment)) words += row_of(rows, r, segment).length;
    return words;
}
#endif
