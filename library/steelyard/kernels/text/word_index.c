/* Words found by their bytes: a hash table of the lines of a vocabulary. */
#include "interning.h"
#include "kernel.h"

#define UPPER 0xFFFFFFFF00000000u

static uint64_t hash_line(const uint8_t *lines, int64_t bytes, Span line) {
    Interner all = {.text = lines, .bytes = bytes};
    return hash_of(&all, key_of(&all, line), line);
}

static int64_t end_of(const uint8_t *lines, int64_t begin) {
    while (lines[begin] != '\n') begin++;
    return begin;
}

/*
 * lines: `types` distinct words, each ended by a newline. starts: gets where each begins, and their end. slots: mask + 1
 * zeros, a power of two above `types`; gets the upper half of a word's hash, then its number + 1. Returns 0.
 *
 * Reads lines: uint8[size]. Writes starts: int64[types + 1], slots: uint64[mask + 1].
 */
KERNEL int64_t steelyard_word_index(const uint8_t *lines, int64_t size, int64_t types, int64_t *starts,
                                    uint64_t *slots, uint64_t mask) {
    starts[0] = 0;
    for (int64_t type = 0; type < types; type++) {
        Span line = {starts[type], end_of(lines, starts[type])};
        uint64_t hash = hash_line(lines, size, line), slot = hash & mask;
        while (slots[slot]) slot = (slot + 1) & mask;
        slots[slot] = (hash & UPPER) | (uint64_t)(type + 1);
        starts[type + 1] = line.end + 1;
    }
    return 0;
}

/* wanted: `count` words, each ended by a newline. places: gets the number of each among the lines, or -1. Returns 0.
 *
 * Reads wanted: uint8[size], lines: uint8[len(lines)], starts: int64[*], slots: uint64[mask + 1]. Writes
 * places: int32[*]. */
KERNEL int64_t steelyard_word_places(const uint8_t *wanted, int64_t size, int64_t count, const uint8_t *lines,
                                     const int64_t *starts, const uint64_t *slots, uint64_t mask, int32_t *places) {
    for (int64_t k = 0, begin = 0; k < count; k++) {
        Span line = {begin, end_of(wanted, begin)};
        uint64_t hash = hash_line(wanted, size, line), slot = hash & mask;
        places[k] = -1;
        for (uint64_t held; places[k] < 0 && (held = slots[slot]); slot = (slot + 1) & mask) {
            int64_t type = (int64_t)(held & ~UPPER) - 1, length = line.end + 1 - begin;
            if (((held ^ hash) & UPPER) == 0 && starts[type + 1] - starts[type] == length &&
                !memcmp(lines + starts[type], wanted + begin, (size_t)length))
                places[k] = (int32_t)type;
        }
        begin = line.end + 1;
    }
    return 0;
}
