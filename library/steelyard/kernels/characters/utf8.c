/* What a text is like, in one look at each byte: whether it is UTF-8, and its lines. See utf8.py.
 *
 * The check is the one of Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte" (2021): of each
 * two bytes that follow one another, three tables of 16 entries say by one bit for each kind of error whether the first
 * byte's halves and the second byte's upper half allow it; the error is there where all three do. */
#include "bytes16.h"
#include "kernel.h"

enum {
    TOO_SHORT = 1,      /* a first byte, and no continuation behind it */
    TOO_LONG = 2,       /* a continuation behind ASCII */
    OVERLONG_3 = 4,     /* E0 80 to E0 9F */
    TOO_LARGE = 8,      /* F4 90 and above */
    SURROGATE = 16,     /* ED A0 to ED BF */
    OVERLONG_2 = 32,    /* C0 and C1 */
    OVERLONG_4 = 64,    /* F0 80 to F0 8F */
    TOO_LARGE_1000 = 64, /* F5 80 to F5 8F and above: no byte is both */
    CONTINUATIONS = 128, /* two: right where a sequence of three or four bytes has them, and only there */
    BY_NEITHER_LOWER_HALF = TOO_SHORT | TOO_LONG | CONTINUATIONS,
    BY_ANY_CONTINUATION = TOO_LONG | OVERLONG_2 | CONTINUATIONS,
};

enum { BLOCK = 64, BLOCKS_BETWEEN_SUMS = 63 /* times four bytes fit in a byte */ };

#define FOUR(x) x, x, x, x

static const bytes16 FIRST_UPPER = {
    FOUR(TOO_LONG), FOUR(TOO_LONG), FOUR(CONTINUATIONS),
    TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4};
#define BEYOND (BY_NEITHER_LOWER_HALF | TOO_LARGE | TOO_LARGE_1000)
static const bytes16 FIRST_LOWER = {
    BY_NEITHER_LOWER_HALF | OVERLONG_2 | OVERLONG_3 | OVERLONG_4, BY_NEITHER_LOWER_HALF | OVERLONG_2,
    BY_NEITHER_LOWER_HALF, BY_NEITHER_LOWER_HALF, BY_NEITHER_LOWER_HALF | TOO_LARGE,
    BEYOND, BEYOND, BEYOND, FOUR(BEYOND), BEYOND, BEYOND | SURROGATE, BEYOND, BEYOND};
static const bytes16 SECOND_UPPER = {
    FOUR(TOO_SHORT), FOUR(TOO_SHORT),
    BY_ANY_CONTINUATION | OVERLONG_3 | OVERLONG_4 | TOO_LARGE_1000, BY_ANY_CONTINUATION | OVERLONG_3 | TOO_LARGE,
    BY_ANY_CONTINUATION | SURROGATE | TOO_LARGE, BY_ANY_CONTINUATION | SURROGATE | TOO_LARGE,
    FOUR(TOO_SHORT)};

typedef struct {
    bytes16 errors, feeds; /* feeds: how many, summed up now and then */
    int64_t line_feeds, without, longest; /* blocks without a line feed: in a row now, and at most */
} Look;

/* As the upper bit of each byte: whether it begins a sequence of three or four, or of four. */
static inline bytes16 from_e0(bytes16 bytes) { return bytes & (bytes - 0x60); }
static inline bytes16 from_f0(bytes16 bytes) { return bytes & (bytes - 0x70); }

/* Bits where one of 16 bytes does not continue the three bytes before it. */
static inline bytes16 errors_of(const uint8_t *at, bytes16 bytes) {
    const bytes16 before = load16(at - 1);
    const bytes16 pairs = looked_up(FIRST_UPPER, before >> 4) & looked_up(FIRST_LOWER, before & 15) &
                          looked_up(SECOND_UPPER, bytes >> 4);
    return pairs ^ ((from_e0(load16(at - 2)) | from_f0(load16(at - 3))) & CONTINUATIONS);
}

/* The same where no sequence has more than two bytes: each first byte has its continuation, and is not too small. */
static inline bytes16 errors_of_pairs(const uint8_t *at, bytes16 bytes) {
    const bytes16 before = load16(at - 1), firsts = before & (before + before), seconds = bytes & ~(bytes + bytes);
    return ((firsts ^ seconds) & 0x80) | (bytes16)((bytes & 0xFE) == 0xC0);
}

/* A block of 64 bytes; the three bytes before it are looked at, too. */
static inline void look_at(Look *look, const uint8_t *at) {
    bytes16 high = load16(at - 3), feeds = {0};
    for (int i = 0; i < BLOCK; i += 16) {
        const bytes16 bytes = load16(at + i);
        high |= bytes;
        feeds -= (bytes16)(bytes == '\n');
    }
    look->feeds += feeds;
    look->without = is_any(feeds) ? 0 : look->without + 1;
    if (look->without > look->longest) look->longest = look->without;
    if (!is_any(high & 0x80)) return;
    bytes16 longer = from_e0(load16(at - 3));
    for (int i = 0; i < BLOCK; i += 16) longer |= from_e0(load16(at + i));
    if (is_any(longer & 0x80))
        for (int i = 0; i < BLOCK; i += 16) look->errors |= errors_of(at + i, load16(at + i));
    else
        for (int i = 0; i < BLOCK; i += 16) look->errors |= errors_of_pairs(at + i, load16(at + i));
}

/* The block at `from` in `room`, with blanks for what lies outside the text; returns where it begins there. */
static const uint8_t *padded(const uint8_t *bytes, int64_t size, int64_t from, uint8_t room[3 + BLOCK]) {
    const int64_t first = from < 3 ? 0 : from - 3, last = size - from < BLOCK ? size : from + BLOCK;
    memset(room, ' ', 3 + BLOCK);
    memcpy(room + 3 - (from - first), bytes + first, (size_t)(last - first));
    return room + 3;
}

/* Returns whether the bytes are UTF-8 as Unicode defines it. found[0]: how many line feeds; found[1]: more bytes than any
 * line has, by less than 200.
 *
 * Reads text: uint8[size]. Writes found: int64[2]. */
KERNEL int64_t steelyard_validate_utf8(const uint8_t *text, int64_t size, int64_t *found) {
    Look look = {0};
    uint8_t room[3 + BLOCK];
    int64_t at = 0;
    /* The last block is never whole, so that it shows where a sequence is cut off by the end. */
    while (at <= size) {
        for (int i = 0; i < BLOCKS_BETWEEN_SUMS && at <= size; i++, at += BLOCK)
            look_at(&look, at && size - at >= BLOCK ? text + at : padded(text, size, at, room));
        look.line_feeds += sum16(look.feeds);
        look.feeds = (bytes16){0};
    }
    found[0] = look.line_feeds;
    found[1] = (look.longest + 2) * BLOCK;
    return !is_any(look.errors);
}
