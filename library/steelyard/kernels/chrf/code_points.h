/* From UTF-8 to code points, with or without white space, which is what Python's str.split() takes for it. */
#ifndef CODE_POINTS_H
#define CODE_POINTS_H

#include <string.h>

#include "code_symbols.h"
#include "kernel.h"

/* What a byte adds to the code point that it ends, and to the one that the next byte ends. */
typedef struct {
    uint8_t low[256], keep[256];
    uint16_t high[256];
    uint32_t white_space; /* 1 where white space is kept, else 0 */
} Bytes;

static inline void classify_bytes(Bytes *bytes, int white_space) {
    bytes->white_space = white_space ? 1 : 0;
    for (int b = 0; b < 256; b++) {
        const int half = b >= 0xC0, space = b < 0x80 && is_white_space((uint32_t)b);
        bytes->low[b] = (uint8_t)(half ? 0 : b < 0x80 ? b : b & 63);
        bytes->high[b] = (uint16_t)(half ? (b & 31) << 6 : 0);
        bytes->keep[b] = !half && (!space || white_space);
    }
}

/* One code point of any length at `at`, written to `code`, 0 to `keep` for a white space. Returns where the next
 * begins, 0 if it is cut off by `end` or there is no such code point. */
static inline const uint8_t *decode_one(const Bytes *bytes, const uint8_t *at, const uint8_t *end, uint32_t *code,
                                        uint32_t *keep) {
    const uint32_t byte = *at;
    if (byte < 0x80) {
        *code = byte, *keep = bytes->keep[byte];
        return at + 1;
    }
    if (byte < 0xC0) { /* the second half of a code point whose first half was taken by `decode_eight` */
        *code = code_of(at - 1, 2), *keep = !is_white_space(*code);
        return at + 1;
    }
    const int width = width_of(*at);
    if (end - at < width) return 0;
    *code = code_of(at, width), *keep = !is_white_space(*code);
    return *code < CODE_POINTS ? at + width : 0;
}

/* Whether among eight bytes is one of a code point beyond U+07FF, or one that could be a white space of
 * two. */
static inline int is_difficult(uint64_t eight) {
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7, differs = eight ^ 0xC2 * ones;
    return ((eight & eight << 1 & eight << 2 & tops) | ((differs - ones) & ~differs & tops)) != 0;
}

/* Eight bytes of others, without a branch. A first half is left to its second half. */
static inline int64_t decode_eight(const Bytes *bytes, const uint8_t *at, const Symbols *symbols,
                                   uint32_t *out, int64_t length) {
    for (int i = 0; i < 8; i++) {
        const uint32_t code = (uint32_t)(bytes->low[at[i]] | bytes->high[at[i - 1]]);
        out[length] = symbols ? symbols->narrow[code] : code;
        length += bytes->keep[at[i]];
    }
    return length;
}

/* Writes the code points of a line in `text` to `out`, or the symbols of them where `symbols` is not 0. There must be room for as
 * many as the line has bytes. Returns how many they are, BAD_TEXT where the line cannot be. */
static inline int64_t decode_line(const Bytes *bytes, const uint8_t *at, const uint8_t *end, const uint8_t *text,
                                  const Symbols *symbols, uint32_t *out) {
    int64_t length = 0;
    if (at < end && (*at & 0xC0) == 0x80) return BAD_TEXT;
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8 && at > text) {
            memcpy(&eight, at, 8);
            if (!is_difficult(eight)) {
                length = decode_eight(bytes, at, symbols, out, length);
                at += 8;
                continue;
            }
        }
        for (const uint8_t *stop = end - at < 8 ? end : at + 8; at < stop;) {
            uint32_t code, keep;
            at = decode_one(bytes, at, end, &code, &keep);
            if (!at) return BAD_TEXT;
            out[length] = symbols ? symbol_of(symbols, code) : code;
            length += keep | bytes->white_space;
        }
    }
    return length;
}
#endif
