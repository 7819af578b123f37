/* Finds words in a sorted vocabulary that lies in a file: nothing is loaded but the pages that are looked at. */
#include <stdint.h>
#include <string.h>

#include "comparing.h"
#include "kernel.h"

/* Below, at or above 0 as the first text sorts before, with or behind the other, byte by byte. */
static int compare(const uint8_t *one, int64_t length, const uint8_t *other, int64_t other_length) {
    int order = memcmp(one, other, (size_t)smaller(length, other_length));
    return order ? order : (length > other_length) - (length < other_length);
}

/*
 * wanted: `count` words, each ended by a newline. vocabulary: `size` words in the order of their bytes, each ended by
 * a newline, the first byte of each in starts and behind them the end. places: by wanted word, its number in the
 * vocabulary, or -1. Returns 0.
 *
 * Reads wanted: uint8[len(wanted)], vocabulary: uint8[starts[-1]], starts: int64[size + 1]. Writes
 * places: int32[count].
 */
KERNEL int64_t steelyard_find_words(const uint8_t *wanted, int64_t count, const uint8_t *vocabulary,
                                    const int64_t *starts, int64_t size, int32_t *places) {
    for (int64_t k = 0; k < count; k++) {
        const uint8_t *end = wanted;
        while (*end != '\n') end++;
        int64_t low = 0, high = size;
        places[k] = -1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            int64_t length = starts[middle + 1] - starts[middle] - 1;
            int order = compare(wanted, end - wanted, vocabulary + starts[middle], length);
            if (!order) {
                places[k] = (int32_t)middle;
                break;
            }
            if (order < 0) high = middle;
            else low = middle + 1;
        }
        wanted = end + 1;
    }
    return 0;
}
