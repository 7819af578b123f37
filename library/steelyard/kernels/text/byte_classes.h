/* What kinds of bytes 64 bytes of text are, as one bit mask for each kind: bit k belongs to byte k. */
#ifndef BYTE_CLASSES_H
#define BYTE_CLASSES_H

#include <stdint.h>
#include <string.h>
#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

#include "utf8.h"

typedef struct {
    uint64_t newline;
    uint64_t blank; /* white space of one byte, newlines among it */
    uint64_t wide;  /* where white space of two or three bytes may begin */
    uint64_t alone; /* punctuation of mteval-v13a that always is a token of its own */
    uint64_t digit, point, dash;
} Classes;

static inline int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }
static inline int is_point(uint8_t byte) { return byte == '.' || byte == ','; }

#define ALWAYS_ALONE "!\"#$%&()*+/:;<=>?@[\\]^_`{|}~"

#ifdef __SSSE3__
/* Sets of ASCII bytes: byte b is in the set where bit b >> 4 of the entry b & 15 is 1. */
typedef struct {
    __m128i blank, alone;
} Alphabet;

static inline __m128i set_of(const char *bytes) {
    uint8_t set[16] = {0};
    for (; *bytes; bytes++) set[*bytes & 15] |= (uint8_t)(1 << (*bytes >> 4));
    return _mm_loadu_si128((const __m128i *)set);
}

static inline Alphabet alphabet(void) {
    char blanks[128], *end = blanks;
    for (uint32_t byte = 1; byte < 0x80; byte++)
        if (is_white_space(byte)) *end++ = (char)byte;
    *end = 0;
    return (Alphabet){set_of(blanks), set_of(ALWAYS_ALONE)};
}

static inline uint64_t mask_of(__m128i yes) { return (uint64_t)(uint32_t)_mm_movemask_epi8(yes); }

/* Whether it is one of the `count` bytes from `first` on. */
static inline __m128i is_among(__m128i bytes, uint8_t first, uint8_t count) {
    __m128i from_first = _mm_sub_epi8(bytes, _mm_set1_epi8((char)first));
    return _mm_cmpeq_epi8(_mm_min_epu8(from_first, _mm_set1_epi8((char)(count - 1))), from_first);
}

static inline __m128i is_byte(__m128i bytes, uint8_t byte) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)byte)); }

static inline Classes classes_of(const Alphabet *of, const uint8_t block[64], int punctuation) {
    const __m128i rows = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, (char)128, 0, 0, 0, 0, 0, 0, 0, 0);
    Classes found = {0};
    for (int at = 0; at < 64; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(block + at));
        __m128i row = _mm_shuffle_epi8(rows, _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15)));
        /* The row of a byte beyond ASCII is 0, and so is what its shuffle gives: it must not count as equal. */
        __m128i some = _mm_or_si128(row, _mm_cmpeq_epi8(row, _mm_setzero_si128()));
        __m128i in_blank = _mm_and_si128(_mm_shuffle_epi8(of->blank, bytes), row);
        __m128i wide = _mm_or_si128(is_byte(bytes, 0xC2), is_among(bytes, 0xE1, 3));
        found.newline |= mask_of(is_byte(bytes, '\n')) << at;
        found.blank |= mask_of(_mm_cmpeq_epi8(in_blank, some)) << at;
        found.wide |= mask_of(wide) << at;
        if (!punctuation) continue;
        __m128i in_alone = _mm_and_si128(_mm_shuffle_epi8(of->alone, bytes), row);
        __m128i point = is_byte(_mm_or_si128(bytes, _mm_set1_epi8('.' ^ ',')), '.');
        found.alone |= mask_of(_mm_cmpeq_epi8(in_alone, some)) << at;
        found.digit |= mask_of(is_among(bytes, '0', 10)) << at;
        found.point |= mask_of(point) << at;
        found.dash |= mask_of(is_byte(bytes, '-')) << at;
    }
    return found;
}
#else
enum { NEWLINE, BLANK, WIDE, ALONE, DIGIT, POINT, DASH };

typedef struct {
    uint8_t kinds[256]; /* of each byte a bit for each kind */
} Alphabet;

static inline void mark(Alphabet *of, const char *bytes, int kind) {
    for (; *bytes; bytes++) of->kinds[(uint8_t)*bytes] |= (uint8_t)(1 << kind);
}

static inline Alphabet alphabet(void) {
    Alphabet made = {{0}};
    mark(&made, "\n", NEWLINE);
    for (uint32_t byte = 0; byte < 0x80; byte++)
        if (is_white_space(byte)) made.kinds[byte] |= 1 << BLANK;
    mark(&made, "\xC2\xE1\xE2\xE3", WIDE);
    mark(&made, ALWAYS_ALONE, ALONE);
    mark(&made, "0123456789", DIGIT);
    mark(&made, ".,", POINT);
    mark(&made, "-", DASH);
    return made;
}

/* Which of 8 bytes, the first one lowest, are of a kind: one multiplication brings their bits together. */
static inline uint64_t bits_of(uint64_t kinds, int kind) {
    return (kinds >> kind & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}

static inline Classes classes_of(const Alphabet *of, const uint8_t block[64], int punctuation) {
    Classes found = {0};
    for (int at = 0; at < 64; at += 8) {
        uint64_t kinds = 0;
        for (int k = 0; k < 8; k++) kinds |= (uint64_t)of->kinds[block[at + k]] << 8 * k;
        found.newline |= bits_of(kinds, NEWLINE) << at;
        found.blank |= bits_of(kinds, BLANK) << at;
        found.wide |= bits_of(kinds, WIDE) << at;
        if (!punctuation) continue;
        found.alone |= bits_of(kinds, ALONE) << at;
        found.digit |= bits_of(kinds, DIGIT) << at;
        found.point |= bits_of(kinds, POINT) << at;
        found.dash |= bits_of(kinds, DASH) << at;
    }
    return found;
}
#endif
#endif
