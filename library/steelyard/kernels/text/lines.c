/* Where the lines of a text begin, and how many there are. See lines.py. */
#include "bytes16.h"
#include "kernel.h"

enum { BLOCK = 256 /* bytes: sixteen at a time, so that each counts at most sixteen line feeds */ };

static int64_t line_feeds(const uint8_t *at) {
    bytes16 feeds = {0};
    for (int i = 0; i < BLOCK; i += 16) feeds -= (bytes16)(load16(at + i) == '\n');
    return sum16(feeds);
}

/* Counts the line feeds and writes to `cuts` where the lines number `every`, 2 * `every`, ... begin, the first one being
 * number 0; there must be room for size / every of them. `every` is positive.
 *
 * Reads text: uint8[size]. Writes cuts: int64[size // every]. */
KERNEL int64_t steelyard_lines_cut(const uint8_t *text, int64_t size, int64_t every, int64_t *cuts) {
    int64_t lines = 0, next = every;
    for (int64_t at = 0; at < size; at += BLOCK) {
        const int64_t here = size - at < BLOCK ? size - at : BLOCK;
        if (here == BLOCK) {
            const int64_t found = line_feeds(text + at);
            if (lines + found < next) {
                lines += found;
                continue;
            }
        }
        for (int64_t i = at; i < at + here; i++) {
            if (text[i] != '\n' || ++lines < next) continue;
            *cuts++ = i + 1;
            next += every;
        }
    }
    return lines;
}
