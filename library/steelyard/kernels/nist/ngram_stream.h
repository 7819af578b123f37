/* N-grams with their counts as bytes, one after the other, each n-gram before the longer ones that begin with it. */
#ifndef NGRAM_STREAM_H
#define NGRAM_STREAM_H

#include <stdint.h>

/*
 * An n-gram: one byte, with how far it is up from a child of the one before (15: 15 or more) and 16 times its count (0:
 * 16 or more); what the one before lacks: numbers of 7 bits a byte, the lowest first, all but the last with their high
 * bit set; then its last word, as the words between it and its sibling before, or as it is for a first child. One step
 * above the shortest n-grams comes the end.
 */
enum { RECORD_BYTES = 32, ROOT = -1, ENDED = -2, DAMAGED = -3 };

typedef struct {
    int32_t depth; /* words of the last n-gram but one; ROOT before the first */
    uint32_t count;
} Place;

static inline uint8_t *write_number(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

/* Numbers above 32 bits come out as 2^32 or more, and whatever the bytes are, at most 5 are read. */
static inline const uint8_t *read_number(const uint8_t *from, uint64_t *number) {
    uint64_t found = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        found |= (uint64_t)(*from & 0x7F) << shift;
        if (!(*from++ & 0x80)) break;
    }
    *number = found;
    return from;
}

/* last: of each depth the word written last. Writes at most RECORD_BYTES. */
static inline uint8_t *write_ngram(uint8_t *to, Place *place, uint32_t *last, int32_t depth, uint32_t word,
                                   uint32_t count) {
    uint32_t up = (uint32_t)(place->depth + 1 - depth);
    *to++ = (uint8_t)((up < 15 ? up : 15) | (count < 16 ? count << 4 : 0));
    if (up >= 15) to = write_number(to, up - 15);
    if (count >= 16) to = write_number(to, count - 16);
    to = write_number(to, up ? word - last[depth] - 1 : word);
    last[depth] = word;
    place->depth = depth;
    return to;
}

static inline uint8_t *write_end(uint8_t *to, const Place *place) {
    uint32_t up = (uint32_t)(place->depth + 2);
    *to++ = (uint8_t)((up < 15 ? up : 15) | 1 << 4);
    return up < 15 ? to : write_number(to, up - 15);
}

/*
 * Reads at most RECORD_BYTES: there must be as many. The next n-gram's depth and count get into `place`, its word into
 * last[depth]; the depth is ENDED behind the last, and DAMAGED for what `write_ngram` did not write.
 */
static inline const uint8_t *read_ngram(const uint8_t *from, Place *place, uint32_t *last, int32_t deepest,
                                        uint32_t types) {
    uint8_t tag = *from++;
    uint64_t up = tag & 15, count = tag >> 4, word;
    if (up == 15) {
        from = read_number(from, &up);
        up += 15;
    }
    if (up == (uint64_t)(place->depth + 2)) {
        place->depth = count == 1 ? ENDED : DAMAGED;
        return from;
    }
    if (count == 0) {
        from = read_number(from, &count);
        count += 16;
    }
    from = read_number(from, &word);
    int64_t depth = place->depth + 1 - (int64_t)up;
    if (depth < 0 || depth >= deepest || count > UINT32_MAX) {
        place->depth = DAMAGED;
        return from;
    }
    if (up) word += (uint64_t)last[depth] + 1;
    if (word >= types) {
        place->depth = DAMAGED;
        return from;
    }
    last[depth] = (uint32_t)word;
    place->depth = (int32_t)depth;
    place->count = (uint32_t)count;
    return from;
}
#endif
