/* Makes bits of counts of draws, see draw_bits.h. Counts of 4 and more are rare, so that what is left of them is a list. */
#include "draw_bits.h"
#include "kernel.h"

#include <string.h>

typedef struct {
    uint8_t low[RUN]; /* the lowest 2 bits of each count, and other bits where there are higher ones */
} Narrow;

static uint32_t count_at(const void *counts, int64_t bytes, int64_t at) {
    return bytes == 1 ? ((const uint8_t *)counts)[at] : ((const uint16_t *)counts)[at];
}

static void narrow_run(const void *counts, int64_t bytes, int64_t at, int64_t size, Narrow *run) {
    if (size < RUN) memset(run, 0, sizeof *run);
    if (bytes == 1) {
        memcpy(run->low, (const uint8_t *)counts + at, (size_t)size);
        return;
    }
    const uint16_t *wide = (const uint16_t *)counts + at;
    for (int64_t i = 0; i < size; i++) run->low[i] = (uint8_t)((wide[i] & 3) | (wide[i] > 3 ? 4 : 0));
}

/* Bit `place` of each of eight bytes, side by side: the product moves bit 8 i to bit 56 + i. */
static inline uint64_t gathered(uint64_t eight, int place) {
    return ((eight >> place & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

/* Eight counts of a byte, the first segment's lowest. */
static inline uint64_t loaded(const uint8_t *counts) {
    uint64_t eight;
    memcpy(&eight, counts, sizeof eight);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return eight;
}

/* All bits that some count of the group has, without the lowest two: as many entries of weight 4 say the rest. */
static uint32_t high_bits(const void *counts, int64_t bytes, int64_t at, int64_t size) {
    uint32_t any = 0;
    for (int64_t i = 0; i < size; i++) any |= count_at(counts, bytes, at + i);
    return any >> 2;
}

/* As high_bits, of eight counts of a byte. */
static inline uint32_t high_bits_of(uint64_t eight) {
    eight |= eight >> 32;
    eight |= eight >> 16;
    eight |= eight >> 8;
    return (uint32_t)(eight & 255) >> 2;
}

/* Writes the two planes of counts (rows, segments) of 1 or 2 bytes each, and where the entries of each run and row
 * end. Returns the number of all entries.
 *
 * Reads counts: uint8|uint16[rows, segments]. Writes bits: uint64[-(-segments // 64), rows, 2],
 * ends: int64[-(-segments // 64) * rows + 1]. */
KERNEL int64_t steelyard_draw_bits(const void *counts, int64_t bytes, int64_t rows, int64_t segments, uint64_t *bits,
                                   int64_t *ends) {
    int64_t runs = (segments + RUN - 1) / RUN, entries = 0;
    ends[0] = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t run = 0; run < runs; run++) {
            int64_t first = run * RUN, size = segments - first < RUN ? segments - first : RUN;
            int64_t at = r * segments + first, found = 0;
            Narrow low;
            narrow_run(counts, bytes, at, size, &low);
            uint64_t ones = 0, twos = 0;
            for (int group = 0; group < GROUPS; group++) {
                uint64_t eight = loaded(low.low + group * GROUP);
                ones |= gathered(eight, 0) << GROUP * group;
                twos |= gathered(eight, 1) << GROUP * group;
                if (bytes == 1) {
                    found += high_bits_of(eight);
                } else if (eight & 0xFCFCFCFCFCFCFCFCu) {
                    int64_t left = size - group * GROUP;
                    found += high_bits(counts, bytes, at + group * GROUP, left < GROUP ? left : GROUP);
                }
            }
            bits[(run * rows + r) * 2] = ones;
            bits[(run * rows + r) * 2 + 1] = twos;
            ends[1 + run * rows + r] = found;
        }
    }
    for (int64_t i = 0; i < runs * rows; i++) ends[i + 1] = entries += ends[i + 1];
    return entries;
}

/* Which counts of a group have a bit, which is at `place`. */
static uint32_t which_have(const void *counts, int64_t bytes, int64_t at, int64_t size, int place) {
    uint32_t which = 0;
    for (int64_t i = 0; i < size; i++) which |= (count_at(counts, bytes, at + i) >> place & 1) << i;
    return which;
}

/* Writes the entries of one group of counts: group << 8 | the segments that have a bit, as often as the bit is worth. */
static uint16_t *write_group(const void *counts, int64_t bytes, int64_t at, int64_t size, int64_t group,
                             uint16_t *next) {
    uint64_t eight = 0;
    int narrow = bytes == 1 && size == GROUP;
    if (narrow) eight = loaded((const uint8_t *)counts + at);
    uint32_t any = narrow ? high_bits_of(eight) : high_bits(counts, bytes, at, size);
    for (int place = 2; any; place++, any >>= 1) {
        if (!(any & 1)) continue;
        uint32_t which = narrow ? (uint32_t)gathered(eight, place) : which_have(counts, bytes, at, size, place);
        for (int i = 0; i < 1 << (place - 2); i++) *next++ = (uint16_t)(group << 8 | which);
    }
    return next;
}

/* Writes the entries, of which draw_bits told the number and the ends.
 *
 * Reads counts: uint8|uint16[rows, segments], ends: int64[-(-segments // 64) * rows + 1]. Writes
 * entries: uint16[ends[-1]]. */
KERNEL int64_t steelyard_draw_entries(const void *counts, int64_t bytes, int64_t rows, int64_t segments,
                                      const int64_t *ends, uint16_t *entries) {
    int64_t runs = (segments + RUN - 1) / RUN;
    for (int64_t run = 0; run < runs; run++) {
        for (int64_t r = 0; r < rows; r++) {
            uint16_t *next = entries + ends[run * rows + r], *end = entries + ends[run * rows + r + 1];
            for (int64_t at = run * RUN; next < end; at += GROUP) {
                int64_t left = segments - at;
                next = write_group(counts, bytes, r * segments + at, left < GROUP ? left : GROUP,
                                   at % RUN / GROUP, next);
            }
        }
    }
    return 0;
}
