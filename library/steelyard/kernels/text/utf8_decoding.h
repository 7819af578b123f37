/* One character of UTF-8. */
#ifndef UTF8_DECODING_H
#define UTF8_DECODING_H

#include <stdint.h>

/* How many bytes a character has that begins with this one. */
static inline int width_of(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* The code point of so many bytes at `at`. */
static inline uint32_t code_of(const uint8_t *at, int width) {
    if (width == 1) return at[0];
    if (width == 2) return (at[0] & 31u) << 6 | (at[1] & 63u);
    if (width == 3) return (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
    return (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
}

#endif
