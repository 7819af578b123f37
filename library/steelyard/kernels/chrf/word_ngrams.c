/* Word n-grams that systems share with references, words cut as chrF++ cuts them. See word_ngrams.py. */
#include "kernel.h"
#include "shared_ngrams.h"

/* As in string.punctuation: every printable ASCII character that is no letter, digit or blank. */
static inline int is_punctuation(uint8_t byte) {
    const uint8_t small = byte | 32;
    return byte > 32 && byte < 127 && !(byte >= '0' && byte <= '9') && !(small >= 'a' && small <= 'z');
}

/* Puts a blank before the punctuation mark that a word ends with, else behind the one that it begins with, where
 * that is not all of it. lines: words, each ended by a line feed, `size` bytes; out: room for twice as many.
 * Returns how many were written.
 *
 * Reads lines: uint8[size]. Writes out: uint8[2 * size]. */
KERNEL int64_t steelyard_cut_marks(const uint8_t *lines, int64_t size, uint8_t *out) {
    uint8_t *const first = out;
    for (const uint8_t *at = lines, *end; at < lines + size; at = end + 1) {
        end = memchr(at, '\n', (size_t)(lines + size - at));
        if (!end) break;
        const size_t length = (size_t)(end - at);
        size_t cut = length;
        if (length > 1 && is_punctuation(end[-1])) cut = length - 1;
        else if (length > 1 && is_punctuation(at[0])) cut = 1;
        memcpy(out, at, cut);
        out += cut;
        if (cut < length) *out++ = ' ';
        memcpy(out, at + cut, length - cut);
        out += length - cut;
        *out++ = '\n';
    }
    return out - first;
}

/* Words as numbers, and the one or two pieces of each. */
typedef struct {
    const int32_t *ids, *pieces;
    const int64_t *starts, *piece_starts;
    uint32_t *symbol_of; /* of each piece; 0 for those that no reference of the segment has */
} PieceTexts;

/* Gives a symbol to each piece of a reference that has none yet; `known` are given already. */
static uint32_t know_pieces(const PieceTexts *texts, int64_t row, uint32_t known) {
    for (int64_t word = texts->starts[row]; word < texts->starts[row + 1]; word++) {
        const int64_t *piece = texts->piece_starts + texts->ids[word];
        for (int64_t at = piece[0]; at < piece[1]; at++) {
            uint32_t *symbol = &texts->symbol_of[texts->pieces[at]];
            if (!*symbol) *symbol = ++known;
        }
    }
    return known;
}

static void forget_pieces(const PieceTexts *texts, int64_t row) {
    for (int64_t word = texts->starts[row]; word < texts->starts[row + 1]; word++) {
        const int64_t *piece = texts->piece_starts + texts->ids[word];
        texts->symbol_of[texts->pieces[piece[0]]] = texts->symbol_of[texts->pieces[piece[1] - 1]] = 0;
    }
}

/* Writes the symbols of a row, and one more number; returns how many they are. */
static size_t write_symbols(const PieceTexts *texts, int64_t row, uint32_t *symbols) {
    size_t total = 0;
    for (int64_t word = texts->starts[row]; word < texts->starts[row + 1]; word++) {
        const int64_t *piece = texts->piece_starts + texts->ids[word];
        /* Whether there is a second piece cannot be guessed: the last one is written in any case. */
        symbols[total] = texts->symbol_of[texts->pieces[piece[0]]];
        symbols[total + 1] = texts->symbol_of[texts->pieces[piece[1] - 1]];
        total += (size_t)(piece[1] - piece[0]);
    }
    return total;
}

/* The symbols of segment `segment`, which is every `segments`-th row. Returns -1 when out of memory. */
static int read_segment(const PieceTexts *texts, Sequences *sequences, int64_t references, int64_t rows,
                        int64_t segments, int64_t segment, int64_t *lengths) {
    size_t most = 0, total = 0;
    uint32_t known = 0;
    for (int64_t row = segment; row < rows; row += segments)
        most += 2 * (size_t)(texts->starts[row + 1] - texts->starts[row]);
    if (sequences_room(sequences, (size_t)(rows / segments), most)) return -1;
    uint32_t *symbols = sequences->symbols.memory;
    size_t *starts = sequences->starts.memory;
    for (int64_t row = segment; row < references * segments; row += segments) known = know_pieces(texts, row, known);
    for (int64_t row = segment; row < rows; row += segments) {
        const size_t length = write_symbols(texts, row, symbols + total);
        *starts++ = total;
        lengths[row] = (int64_t)length;
        total += length;
    }
    *starts = total;
    sequences->width = (size_t)known + 1;
    for (int64_t row = segment; row < references * segments; row += segments) forget_pieces(texts, row);
    return 0;
}

/* ids, starts: words of each row; row t * segments + i is segment i of text t; texts are `references` references, then
 * the systems. Word w is cut into pieces[piece_starts[w]] to pieces[piece_starts[w + 1] - 1], one or two, all below
 * `types`. present: (references, segments), 0 where a segment lacks a reference. lengths: pieces of each row. out:
 * (references, systems, segments, orders), left alone where a reference is missing.
 * Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1], pieces: int32[piece_starts[-1]],
 * piece_starts: int64[*], present: uint8[references, segments]. Writes
 * lengths: int64[(references + systems) * segments], out: uint32[references, systems, segments, orders]. */
KERNEL int64_t steelyard_word_ngrams(const int32_t *ids, const int64_t *starts, const int32_t *pieces,
                                     const int64_t *piece_starts, const uint8_t *present, int64_t types,
                                     int64_t references, int64_t systems, int64_t segments, int64_t orders,
                                     int64_t *lengths, uint32_t *out) {
    const int64_t rows = (references + systems) * segments;
    NgramOverlap ngrams = {0};
    Sequences sequences = {0};
    PieceTexts texts = {ids, pieces, starts, piece_starts, calloc((size_t)types + 1, sizeof(uint32_t))};
    int64_t result = texts.symbol_of ? 0 : OUT_OF_MEMORY;
    for (int64_t i = 0; i < segments && !result; i++) {
        result = read_segment(&texts, &sequences, references, rows, segments, i, lengths);
        if (!result)
            result = shared_ngrams(&ngrams, &sequences, present, (size_t)references, (size_t)systems,
                                   (size_t)segments, (size_t)i, (int)orders, out);
    }
    ngrams_free(&ngrams);
    sequences_free(&sequences);
    free(texts.symbol_of);
    return result;
}
