/* From UTF-8 to code points without white space, for all texts of a batch at once. See characters.py.
 *
 * White space is what Python's str.split() takes for it. The words it separates are kept as offsets into the
 * code points, for metrics that need both views of a text.
 */
#include <stdint.h>
#include <string.h>

#define NOT_AS_MANY_LINES (-2)
#define NOT_UTF8 (-3)

typedef struct {
    uint32_t *codes;
    int64_t *words;
    int64_t length;   /* code points so far */
    int64_t count;    /* words so far */
    uint32_t outside; /* 1 after white space and at the start of a line: the next code point begins a word */
} Sink;

/* What a byte adds to the code point that it ends, and to the one that the next byte ends. */
typedef struct {
    uint8_t low[256], keep[256], space[256], half[256];
    uint16_t high[256];
} Bytes;

static void classify(Bytes *bytes) {
    for (int b = 0; b < 256; b++) {
        const int half = b >= 0xC0, space = (b >= 0x09 && b <= 0x0D) || (b >= 0x1C && b <= 0x20);
        bytes->low[b] = (uint8_t)(half ? 0 : b < 0x80 ? b : b & 63);
        bytes->high[b] = (uint16_t)(half ? (b & 31) << 6 : 0);
        bytes->keep[b] = !half && !space;
        bytes->space[b] = (uint8_t)space;
        bytes->half[b] = (uint8_t)half;
    }
}

static inline int is_wide_space(uint32_t code) {
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
           code == 0x202F || code == 0x205F || code == 0x3000;
}

/* Takes in one code point, which may be white space. */
static inline void put(Sink *sink, uint32_t code, uint32_t keep) {
    sink->codes[sink->length] = code;
    sink->words[sink->count] = sink->length;
    sink->length += keep;
    sink->count += keep & sink->outside;
}

/* One code point of any length at `at`; returns where the next begins, 0 if it is cut off by `end`. */
static inline const uint8_t *decode(Sink *sink, const Bytes *bytes, const uint8_t *at, const uint8_t *end) {
    const uint32_t byte = *at;
    uint32_t code, keep;
    const uint8_t *next;
    if (byte < 0x80) {
        code = byte, keep = bytes->keep[byte], next = at + 1;
    } else if (byte < 0xC0) { /* the second half of a code point whose first half was taken by `narrow` */
        code = (at[-1] & 31u) << 6 | (byte & 63), keep = code != 0x85 && code != 0xA0, next = at + 1;
    } else if (byte < 0xE0) {
        if (end - at < 2) return 0;
        next = at + 2;
        code = (byte & 31) << 6 | (at[1] & 63u), keep = code != 0x85 && code != 0xA0;
    } else if (byte < 0xF0) {
        if (end - at < 3) return 0;
        next = at + 3;
        code = (byte & 15) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u), keep = !is_wide_space(code);
    } else {
        if (end - at < 4) return 0;
        next = at + 4;
        code = (byte & 7) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u), keep = 1;
    }
    put(sink, code, keep);
    sink->outside = !keep;
    return next;
}

/* Whether among eight bytes is one of a code point beyond U+07FF, or one that could be a white space of
 * two. */
static inline int is_difficult(uint64_t eight) {
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7, differs = eight ^ 0xC2 * ones;
    return ((eight & eight << 1 & eight << 2 & tops) | ((differs - ones) & ~differs & tops)) != 0;
}

/* Eight bytes of others, without a branch. A first half is left to its second half. */
static inline void narrow(Sink *sink, const Bytes *bytes, const uint8_t *at) {
    int64_t length = sink->length, count = sink->count;
    uint32_t outside = sink->outside;
    for (int i = 0; i < 8; i++) {
        const uint8_t byte = at[i], keep = bytes->keep[byte];
        sink->codes[length] = (uint32_t)(bytes->low[byte] | bytes->high[at[i - 1]]);
        sink->words[count] = length;
        length += keep;
        count += keep & outside;
        outside = (outside & bytes->half[byte]) | bytes->space[byte];
    }
    sink->length = length;
    sink->count = count;
    sink->outside = outside;
}

/* Writes the code points of `rows` lines to `codes`, where each line begins to `starts` (rows + 1 numbers),
 * where each word begins to `words`, and the first word of each line to `word_starts` (rows + 1 numbers;
 * the last is the number of words, and words[that] is the number of code points). Room: `codes` size + 1,
 * `words` size + 2. Returns the number of code points, or a negative number when the bytes are not `rows`
 * lines of UTF-8. */
int64_t characters_extract(const uint8_t *bytes, int64_t size, int64_t rows, uint32_t *codes, int64_t *starts,
                           int64_t *words, int64_t *word_starts) {
    Sink sink = {codes, words, 0, 0, 1};
    Bytes classes;
    const uint8_t *at = bytes, *const last = bytes + size;
    classify(&classes);
    if (size > 0 && (bytes[0] & 0xC0) == 0x80) return NOT_UTF8;
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *end = at < last ? memchr(at, '\n', (size_t)(last - at)) : 0;
        if (!end) {
            if (row + 1 < rows) return NOT_AS_MANY_LINES;
            end = last;
        }
        starts[row] = sink.length;
        word_starts[row] = sink.count;
        sink.outside = 1;
        while (at < end) {
            uint64_t eight;
            if (end - at >= 8 && at > bytes) {
                memcpy(&eight, at, 8);
                if (!is_difficult(eight)) {
                    narrow(&sink, &classes, at);
                    at += 8;
                    continue;
                }
            }
            for (const uint8_t *stop = end - at < 8 ? end : at + 8; at < stop;) {
                at = decode(&sink, &classes, at, end);
                if (!at) return NOT_UTF8;
            }
        }
        at = end + 1;
    }
    if (rows > 0 && at <= last) return NOT_AS_MANY_LINES;
    starts[rows] = sink.length;
    word_starts[rows] = sink.count;
    words[sink.count] = sink.length;
    return sink.length;
}
