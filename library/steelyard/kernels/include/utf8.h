/* Code points of UTF-8, and which of them are white space. */
#ifndef UTF8_H
#define UTF8_H

#include <stdint.h>

enum { CODE_POINTS = 0x110000 };

/* How many bytes a code point has that begins with this one. */
static inline int width_of(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* The code point of so many bytes at `at`; of bytes that are no UTF-8 it may be any number below 1 << 21. */
static inline uint32_t code_of(const uint8_t *at, int width) {
    if (width == 1) return at[0];
    if (width == 2) return (at[0] & 31u) << 6 | (at[1] & 63u);
    if (width == 3) return (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
    return (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
}

/* As Python's str.split() has it; a test compares all code points. */
static inline int is_white_space(uint32_t code) {
    if (code < 0x80) return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20);
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}
#endif
