/* Character n-grams that systems share with references, from UTF-8. See character_ngrams.py. */
#include "code_points.h"
#include "kernel.h"
#include "shared_ngrams.h"

typedef struct {
    const uint8_t *text;
    Buffer begins; /* of each row of the batch, and behind the last one, as if a line feed followed it */
    Buffer codes;  /* of the references of a segment, one after the other */
    Symbols *symbols;
    Bytes bytes;
} LineTexts;

/* Returns 0, OUT_OF_MEMORY, or BAD_TEXT where the text is not as many lines. */
static int find_rows(LineTexts *texts, int64_t size, int64_t rows) {
    if (reserve(&texts->begins, ((size_t)rows + 1) * sizeof(int64_t))) return OUT_OF_MEMORY;
    int64_t *begins = texts->begins.memory, row = 0, at = 0;
    while (row < rows) {
        const uint8_t *end = at < size ? memchr(texts->text + at, '\n', (size_t)(size - at)) : 0;
        begins[row++] = at;
        if (!end) break;
        at = end - texts->text + 1;
        if (row == rows) return BAD_TEXT;
    }
    begins[row] = size + 1;
    return row == rows ? 0 : BAD_TEXT;
}

/* The symbols of segment `segment`, which is every `segments`-th row. Returns as character_ngrams does. */
static int64_t read_segment(LineTexts *texts, Sequences *sequences, int64_t references, int64_t rows, int64_t segments,
                            int64_t segment, int64_t *lengths) {
    const int64_t *begins = texts->begins.memory;
    int64_t most = 0, of_references = 0;
    for (int64_t row = segment; row < rows; row += segments) {
        most += begins[row + 1] - begins[row];
        if (row < references * segments) of_references = most;
    }
    if (sequences_room(sequences, (size_t)(rows / segments), (size_t)most) ||
        reserve(&texts->codes, (size_t)of_references * sizeof(uint32_t)))
        return OUT_OF_MEMORY;
    uint32_t *codes = texts->codes.memory, *symbols = sequences->symbols.memory, known = 0;
    size_t total = 0, *starts = sequences->starts.memory;
    for (int64_t row = segment; row < rows; row += segments) {
        const uint8_t *begin = texts->text + begins[row], *end = texts->text + begins[row + 1] - 1;
        if (row < references * segments) {
            lengths[row] = decode_line(&texts->bytes, begin, end, texts->text, 0, codes + total);
            for (int64_t i = 0; i < lengths[row]; i++) {
                uint32_t *symbol = symbol_place(texts->symbols, codes[total + (size_t)i]);
                if (!symbol) return OUT_OF_MEMORY;
                /* Which are new cannot be guessed: no branch. */
                const uint32_t is_new = !*symbol;
                known += is_new;
                *symbol |= -is_new & known;
                symbols[total + (size_t)i] = *symbol;
            }
            of_references = (int64_t)total + lengths[row];
        } else {
            lengths[row] = decode_line(&texts->bytes, begin, end, texts->text, texts->symbols, symbols + total);
        }
        if (lengths[row] < 0) return BAD_TEXT;
        *starts++ = total;
        total += (size_t)lengths[row];
    }
    *starts = total;
    for (int64_t i = 0; i < of_references; i++) *symbol_place(texts->symbols, codes[i]) = 0;
    sequences->width = (size_t)known + 1;
    return 0;
}

/* Row t * segments + i of the text is segment i of text t; texts are `references` references, then the systems.
 * present: (references, segments), 0 where a segment lacks a reference. lengths: code points of each row, those that
 * are white space only where `white_space` is not 0. out: (references, systems, segments, orders), left alone where a
 * reference is missing.
 * Returns 0, OUT_OF_MEMORY, or BAD_TEXT where the text is not as many lines of UTF-8.
 *
 * Reads text: uint8[size], present: uint8[references, segments]. Writes
 * lengths: int64[(references + systems) * segments], out: uint32[references, systems, segments, orders]. */
KERNEL int64_t steelyard_character_ngrams(const uint8_t *text, int64_t size, const uint8_t *present, int64_t references,
                                          int64_t systems, int64_t segments, int64_t orders, int64_t white_space,
                                          int64_t *lengths, uint32_t *out) {
    const int64_t rows = (references + systems) * segments;
    NgramOverlap ngrams = {0};
    Sequences sequences = {0};
    LineTexts texts = {.text = text};
    classify_bytes(&texts.bytes, white_space != 0);
    texts.symbols = calloc(1, sizeof *texts.symbols);
    int64_t result = texts.symbols ? find_rows(&texts, size, rows) : -1;
    for (int64_t i = 0; i < segments && !result; i++) {
        result = read_segment(&texts, &sequences, references, rows, segments, i, lengths);
        if (!result)
            result = shared_ngrams(&ngrams, &sequences, present, (size_t)references, (size_t)systems,
                                   (size_t)segments, (size_t)i, (int)orders, out);
    }
    ngrams_free(&ngrams);
    sequences_free(&sequences);
    free(texts.begins.memory);
    free(texts.codes.memory);
    symbols_free(texts.symbols);
    return result;
}
