/* The words of some rows in the order of their bytes. */
#include "kernel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t head; /* the first 8 bytes, the first one highest; zeros behind a shorter word */
    const uint8_t *bytes;
    int64_t length;
    int32_t type;
} word;

static uint64_t head_of(const uint8_t *bytes, int64_t length) {
    uint64_t head = 0;
    for (int64_t k = 0; k < 8; k++) head = head << 8 | (k < length ? bytes[k] : 0);
    return head;
}

static int by_bytes(const void *one, const void *other) {
    const word *a = one, *b = other;
    int order = memcmp(a->bytes, b->bytes, (size_t)(a->length < b->length ? a->length : b->length));
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* By head, byte by byte from the last (a radix sort); `room` is as large as `words`. Returns where they are then. */
static word *sort_by_head(word *words, word *room, int64_t count) {
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t begins[257] = {0};
        for (int64_t k = 0; k < count; k++) begins[(words[k].head >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++) begins[b + 1] += begins[b];
        for (int64_t k = 0; k < count; k++) room[begins[words[k].head >> shift & 255]++] = words[k];
        word *swapped = words;
        words = room;
        room = swapped;
    }
    return words;
}

/*
 * ids: `tokens` numbers below `types`; lines: the types in the order of their numbers, each ended by a newline.
 * position: of each type that occurs, how many smaller ones occur; sorted: room for as much as `lines`, gets the types
 * that occur, in order, each ended by a newline; used: how many bytes those are. Returns how many types occur, or
 * OUT_OF_MEMORY.
 */
KERNEL int64_t steelyard_word_order(const int32_t *ids, int64_t tokens, const uint8_t *lines, int64_t types,
                                    int32_t *position, uint8_t *sorted, int64_t *used) {
    int64_t count = 0, result = OUT_OF_MEMORY;
    uint8_t *occurs = calloc((size_t)types + 1, 1);
    word *words = malloc(((size_t)types + 1) * sizeof *words), *room = malloc(((size_t)types + 1) * sizeof *room);
    if (!occurs || !words || !room) goto done;
    for (int64_t at = 0; at < tokens; at++) occurs[ids[at]] = 1;
    const uint8_t *line = lines;
    for (int64_t type = 0; type < types; type++) {
        const uint8_t *end = line;
        while (*end != '\n') end++;
        if (occurs[type]) words[count++] = (word){head_of(line, end - line), line, end - line, (int32_t)type};
        line = end + 1;
    }
    word *ordered = sort_by_head(words, room, count);
    uint8_t *next = sorted;
    for (int64_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && ordered[last].head == ordered[first].head; last++) {}
        if (last - first > 1) qsort(ordered + first, (size_t)(last - first), sizeof *ordered, by_bytes);
        for (int64_t k = first; k < last; k++) {
            position[ordered[k].type] = (int32_t)k;
            memcpy(next, ordered[k].bytes, (size_t)ordered[k].length + 1);
            next += ordered[k].length + 1;
        }
    }
    *used = next - sorted;
    result = count;
done:
    free(occurs);
    free(words);
    free(room);
    return result;
}
