/* Pairs of two lists of ranks that are discordant, and those that a list ties, in n log n steps (Knight 1966, "A computer
 * method for calculating Kendall's tau with ungrouped data").
 */
#include "kernel.h"

#include <stdint.h>
#include <string.h>

static inline int64_t pairs_among(int64_t count) { return count * (count - 1) / 2; }

/* Sorts runs of `size` numbers that are in order into runs of twice the size; returns how many pairs change places. */
static int64_t merge_runs(const int32_t *restrict from, int32_t *restrict to, int64_t count, int64_t size) {
    int64_t passed = 0;
    for (int64_t begin = 0; begin < count; begin += 2 * size) {
        int64_t middle = begin + size < count ? begin + size : count;
        int64_t end = middle + size < count ? middle + size : count;
        int64_t left = begin, right = middle, out = begin;
        while (left < middle && right < end) {
            /* Without a branch: which side is taken cannot be foreseen. */
            int64_t second = from[right] < from[left];
            to[out++] = second ? from[right] : from[left];
            passed += second ? middle - left : 0;
            right += second;
            left += 1 - second;
        }
        memcpy(to + out, from + left, (size_t)(middle - left) * sizeof *to);
        memcpy(to + out + (middle - left), from + right, (size_t)(end - right) * sizeof *to);
    }
    return passed;
}

/* Sorts by insertion runs of `size` numbers; returns how many pairs change places. */
static int64_t sort_runs(int32_t *numbers, int64_t count, int64_t size) {
    int64_t passed = 0;
    for (int64_t begin = 0; begin < count; begin += size) {
        int64_t end = begin + size < count ? begin + size : count;
        for (int64_t i = begin + 1; i < end; i++) {
            int32_t number = numbers[i];
            int64_t at = i;
            for (; at > begin && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1];
            numbers[at] = number;
            passed += i - at;
        }
    }
    return passed;
}

/* Sorts the numbers, with as much room beside them; returns how many pairs change places. */
static int64_t sort_counting(int32_t *numbers, int32_t *room, int64_t count) {
    enum { SMALL = 8 };
    int64_t passed = sort_runs(numbers, count, SMALL);
    int32_t *from = numbers, *to = room;
    for (int64_t size = SMALL; size < count; size *= 2) {
        passed += merge_runs(from, to, count, size);
        int32_t *other = from;
        from = to;
        to = other;
    }
    if (from != numbers) memcpy(numbers, from, (size_t)count * sizeof *numbers);
    return passed;
}

/* Where the number of the first element ends, of numbers in order. */
static int64_t end_of_ties(const int32_t *numbers, int64_t count) {
    int64_t end = 1;
    while (end < count && numbers[end] == numbers[0]) end++;
    return end;
}

static int64_t tied_pairs(const int32_t *ordered, int64_t count) {
    int64_t tied = 0;
    for (int64_t begin = 0, size; begin < count; begin += size) {
        size = end_of_ties(ordered + begin, count - begin);
        tied += pairs_among(size);
    }
    return tied;
}

/* `second` are the ranks of one list in the order of the other's ranks, `first`. Writes to counts the pairs that are
 * discordant, tied by the first list, by the second one, by both. `second` and `room` (count) are changed.
 *
 * Reads first: int32[*]. Writes second: int32[count], room: int32[count], counts: int64[4]. */
KERNEL int64_t steelyard_count_discordant(const int32_t *first, int32_t *second, int32_t *room, int64_t count,
                                          int64_t *counts) {
    counts[1] = counts[3] = 0;
    for (int64_t begin = 0, size; begin < count; begin += size) {
        size = end_of_ties(first + begin, count - begin);
        /* Pairs that the first list ties are not discordant: they are put in order beforehand. */
        sort_counting(second + begin, room, size);
        counts[1] += pairs_among(size);
        counts[3] += tied_pairs(second + begin, size);
    }
    counts[0] = sort_counting(second, room, count);
    counts[2] = tied_pairs(second, count);
    return 0;
}
