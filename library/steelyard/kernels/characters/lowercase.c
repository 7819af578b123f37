/* A text in small letters: ASCII sixteen bytes at once, other letters by a table. See lowercase.py. */
#include "bytes16.h"
#include "kernel.h"
#include "utf8.h"

/* In the table: has no small letter that follows from the letter alone. */
enum { SPECIAL = 0 };
enum { BEHIND_ALL_LETTERS = 0x20000, BEYOND = 0x110000 /* the table, which may have some letters only */ };

typedef struct {
    const uint32_t *table; /* of each code point below `limit` the small one */
    int64_t limit;
} Letters;

static inline int put(uint8_t *out, uint32_t code) {
    if (code < 0x80) return out[0] = (uint8_t)code, 1;
    const int width = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = width - 1; i > 0; i--, code >>= 6) out[i] = (uint8_t)(0x80 | (code & 63));
    out[0] = (uint8_t)((0xF00 >> width) | code);
    return width;
}

static inline uint32_t small_of(const Letters *letters, uint32_t code) {
    return code < letters->limit ? letters->table[code] : code < BEHIND_ALL_LETTERS ? BEYOND : code;
}

/* Sixteen bytes, or fewer where a letter lies across their end or changes its length; moves *from and *to.
 * There are three more bytes behind them. Returns 0, or what it found that it cannot lower. */
static inline int lower16(const Letters *letters, const uint8_t **from, uint8_t **to) {
    const bytes16 bytes = load16(*from);
    const bytes16 small = bytes + ((bytes16)(bytes - 'A' < 26) & 0x20);
    memcpy(*to, &small, sizeof small);
    int taken = 16, put_there = 16;
    /* Two upper bits: the first byte of a letter beyond ASCII. */
    for (uint32_t firsts = upper_bits(bytes & (bytes + bytes)); firsts; firsts &= firsts - 1) {
        const int i = __builtin_ctz(firsts), width = width_of((*from)[i]);
        if (i + width > 16) {
            taken = put_there = i;
            break;
        }
        const uint32_t code = code_of(*from + i, width), lower = small_of(letters, code);
        if (lower == code) continue;
        if (lower == SPECIAL) return DEPENDS_ON_CONTEXT;
        if (lower == BEYOND) return BEYOND_TABLE;
        const int now = put(*to + i, lower);
        if (now == width) continue;
        taken = i + width;
        put_there = i + now;
        break;
    }
    *from += taken;
    *to += put_there;
    return 0;
}

/* Writes the text, UTF-8, in small letters to `out`, which has room for 16 bytes more than the text and half of it: a
 * letter of two bytes may become one of three. `small`: of each code point below `limit` the small one, 0 for those
 * that need more than a look at themselves. Returns how many bytes were written, DEPENDS_ON_CONTEXT
 * where there is such a letter, BEYOND_TABLE where a letter may need a larger table.
 *
 * Reads text: uint8[size], small: uint32[*]. Writes out: uint8[size + size // 2 + 16]. */
KERNEL int64_t steelyard_lowercase(const uint8_t *text, int64_t size, const uint32_t *small, int64_t limit,
                                   uint8_t *out) {
    const Letters letters = {small, limit};
    const uint8_t *from = text, *const end = text + size;
    uint8_t *to = out;
    while (end - from >= 16 + 3) {
        const int found = lower16(&letters, &from, &to);
        if (found) return found;
    }
    while (from < end) {
        const int width = width_of(*from);
        if (end - from < width) break;
        const uint32_t code = code_of(from, width), lower = small_of(&letters, code);
        if (lower == SPECIAL && code) return DEPENDS_ON_CONTEXT;
        if (lower == BEYOND) return BEYOND_TABLE;
        to += put(to, lower);
        from += width;
    }
    return to - out;
}
