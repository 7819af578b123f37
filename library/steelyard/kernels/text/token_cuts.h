/* Where the tokens of 64 bytes of text begin and end: what white space separates, or what mteval-v13a cuts. */
#ifndef TOKEN_CUTS_H
#define TOKEN_CUTS_H

#include "byte_classes.h"
#include "mteval_marks.h"

typedef struct {
    const uint8_t *text;
    int64_t bytes;
    int mteval_13a; /* whether punctuation is cut off */
    Alphabet alphabet;
    /* Of the block before: whether its last byte was a digit, white space, no part of the token behind it. */
    uint64_t digit, blank, cut;
    uint64_t spilled; /* its white space that goes on here */
} Cutter;

/* Bit k: a token begins at byte k; the token before byte k ended there; byte k is a newline. */
typedef struct {
    uint64_t begins, ends, newlines;
} Cuts;

static inline Cutter cutter(const uint8_t *text, int64_t bytes, int mteval_13a) {
    return (Cutter){.text = text, .bytes = bytes, .mteval_13a = mteval_13a, .alphabet = alphabet(), .blank = 1, .cut = 1};
}

/* How many bytes of white space begin at `at`, a byte marked as wide; 0 for none. */
static inline int wide_blank(const uint8_t *text, int64_t at, int64_t end) {
    const int width = width_of(text[at]);
    return at + width <= end && is_white_space(code_of(text + at, width)) ? width : 0;
}

/* The white space of a block; what of it belongs to the next block is kept for that. */
static inline uint64_t blanks(Cutter *c, const Classes *found, int64_t base) {
    uint64_t blank = found->blank | c->spilled;
    c->spilled = 0;
    for (uint64_t left = found->wide; left; left &= left - 1) {
        int at = __builtin_ctzll(left);
        int width = wide_blank(c->text, base + at, c->bytes);
        uint64_t whole = ((uint64_t)1 << width) - 1;
        blank |= whole << at;
        if (at + width > 64) c->spilled = whole >> (64 - at);
    }
    return blank;
}

/* Whether the point at `at`, behind which a digit follows, is no token of its own. */
static inline int stays(const uint8_t *text, int64_t at) {
    int64_t first = at;
    while (first > 0 && is_point(text[first - 1])) first--;
    return last_mark_stays(at + 1 - first, first > 0 && is_digit(text[first - 1]));
}

/* The punctuation of a block that is cut off: each of these bytes is a token. A '-' is one after a digit. */
static inline uint64_t punctuation(Cutter *c, const Classes *found, int64_t base) {
    uint64_t alone = found->alone | found->point | (found->dash & (found->digit << 1 | c->digit));
    int64_t next = base + 64;
    uint64_t digit_next = next < c->bytes && is_digit(c->text[next]);
    c->digit = found->digit >> 63;
    for (uint64_t left = found->point & (found->digit >> 1 | digit_next << 63); left; left &= left - 1)
        if (stays(c->text, base + __builtin_ctzll(left))) alone &= ~(left & -left);
    return alone;
}

/* Looks at the bytes from `base` on, a multiple of 64; behind the last block that begins within the text or at its end
 * no token is open. */
static inline Cuts cuts_of(Cutter *c, int64_t base) {
    uint8_t padded[64];
    const uint8_t *block = c->text + base;
    if (c->bytes - base < 64) {
        memset(padded, ' ', 64);
        if (c->bytes > base) memcpy(padded, block, (size_t)(c->bytes - base));
        block = padded;
    }
    Classes found = classes_of(&c->alphabet, block, c->mteval_13a);
    uint64_t blank = blanks(c, &found, base), alone = c->mteval_13a ? punctuation(c, &found, base) : 0;
    uint64_t cut = alone | (alone | blank) << 1 | c->cut; /* nothing from before goes on here */
    uint64_t behind_blank = blank << 1 | c->blank;
    c->blank = blank >> 63;
    c->cut = (alone | blank) >> 63;
    return (Cuts){.begins = ~blank & cut, .ends = (blank | cut) & ~behind_blank, .newlines = found.newline};
}
#endif
