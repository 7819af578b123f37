/* The runs of words that a hypothesis shares with its references, longest first (Turian, Shen and Melamed 2003;
 * Kos 2008, algorithm 3). */
#include "comparing.h"
#include "gtm_budget.h"
#include "kernel.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of equal words that are looked at: some 0.1 s where one run cuts the other. */
enum { MOST_PAIRS = 1 << 20, POSITION_BITS = 26 };
static const int64_t POSITIONS = (int64_t)1 << POSITION_BITS;

static void sift_down(uint64_t *heap, int64_t size, int64_t at, uint64_t moved) {
    for (int64_t next; (next = 2 * at + 1) < size; at = next) {
        next += next + 1 < size && heap[next + 1] > heap[next];
        if (heap[next] <= moved) break;
        heap[at] = heap[next];
    }
    heap[at] = moved;
}

static void push(uint64_t *heap, int64_t *size, uint64_t key) {
    int64_t at = (*size)++;
    for (; at > 0 && heap[(at - 1) / 2] < key; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = key;
}

/* Numbers that order runs as they are visited: by length, then by the place in the hypothesis, in the references. */
static uint64_t key_of(int64_t length, int64_t i, int64_t j) {
    return (uint64_t)length << 2 * POSITION_BITS | (uint64_t)i << POSITION_BITS | (uint64_t)j;
}

/* The references of one segment: words + 1, a 0 before, between and behind them. */
typedef struct {
    int32_t *text;
    int64_t size;
    int32_t *last, *before; /* by word: where it stands last; by position: where it stands before that; 0 for none */
    int32_t *count;         /* by word: how often it stands there */
} Sides;

static int64_t list_runs(const Sides *sides, const int32_t *words, int64_t length, uint64_t *heap) {
    const int32_t *text = sides->text;
    int64_t runs = 0;
    for (int64_t i = 0; i < length; i++) {
        for (int64_t j = sides->last[words[i]]; j > 0; j = sides->before[j]) {
            if (i > 0 && text[j - 1] == words[i - 1] + 1) continue; /* it is in a longer run */
            int64_t run = 1;
            while (i + run < length && text[j + run] == words[i + run] + 1) run++;
            heap[runs++] = key_of(run, i, j);
        }
    }
    return runs;
}

/* used_here, used_there: a 0 for each word of the hypothesis and each position of the references. */
static void take_runs(Budget *budget, uint64_t *heap, int64_t runs, uint8_t *used_here, uint8_t *used_there) {
    for (int64_t at = runs / 2; at-- > 0;) sift_down(heap, runs, at, heap[at]);
    while (runs) {
        uint64_t top = heap[0];
        int64_t length = (int64_t)(top >> 2 * POSITION_BITS);
        int64_t i = (int64_t)(top >> POSITION_BITS) & (POSITIONS - 1), j = (int64_t)top & (POSITIONS - 1);
        if (--runs) sift_down(heap, runs, 0, heap[runs]);
        int64_t begin = 0, at = 0, whole = 1;
        for (; at < length; at++) {
            if (!(used_here[i + at] | used_there[j + at])) continue;
            if (at > begin) push(heap, &runs, key_of(at - begin, i + begin, j + begin));
            begin = at + 1;
            whole = 0;
        }
        if (whole) {
            if (take(budget, length, i, j)) return;
            memset(used_here + i, 1, (size_t)length);
            memset(used_there + j, 1, (size_t)length);
        } else if (at > begin) {
            push(heap, &runs, key_of(at - begin, i + begin, j + begin));
        }
    }
}

/*
 * totals: (systems, segments), the sum over the runs of `powers` of their lengths (0 to the longest hypothesis); rests:
 * what is left for the last run where it is longer than that, in parts of a word, as many as the segment has
 * references. taken, where it is not 0: the runs of each hypothesis in the order in which they were taken, from the place of
 * its first word among the words of all hypotheses; runs: (systems, segments), how many those are. Words of a hypothesis
 * behind its first MOST_PAIRS pairs of equal words are in no run. Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], powers: float64[*]. Writes totals: float64[systems, segments],
 * rests: int64[systems, segments], taken: int32[starts[-1] - starts[references * segments], 3]?,
 * runs: int64[systems, segments].
 */
KERNEL int64_t steelyard_gtm_runs(const int32_t *ids, const int64_t *starts, const uint8_t *present, int64_t types,
                                  int64_t references, int64_t systems, int64_t segments, const double *powers,
                                  double *totals, int64_t *rests, Run *taken, int64_t *runs) {
    int64_t longest = 0, longest_hypothesis = 0, result = OUT_OF_MEMORY;
    for (int64_t i = 0; i < segments; i++) {
        int64_t size = 1;
        for (int64_t r = 0; r < references; r++)
            size += starts[r * segments + i + 1] - starts[r * segments + i] + 1;
        if (size > longest) longest = size;
        for (int64_t t = references; t < references + systems; t++) {
            int64_t length = starts[t * segments + i + 1] - starts[t * segments + i];
            if (length > longest_hypothesis) longest_hypothesis = length;
        }
    }
    if (longest >= POSITIONS || longest_hypothesis >= POSITIONS) return TOO_MANY_WORDS;
    size_t words = (size_t)types + 1;
    Sides sides = {.text = malloc((size_t)longest * sizeof *sides.text),
                   .last = calloc(words, sizeof *sides.last),
                   .before = malloc((size_t)longest * sizeof *sides.before),
                   .count = calloc(words, sizeof *sides.count)};
    /* Runs are split, but no pair of words is in two of them: there are never more runs than pairs. */
    Buffer heap = {0};
    uint8_t *used_here = calloc((size_t)longest_hypothesis + 1, 1), *used_there = calloc((size_t)longest, 1);
    if (!sides.text || !sides.last || !sides.before || !sides.count || !used_here || !used_there) goto done;

    for (int64_t i = 0; i < segments; i++) {
        int64_t reference_words = 0, parts = 0;
        sides.size = 0;
        sides.text[sides.size++] = 0;
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (!present[r * segments + i]) continue;
            parts++;
            reference_words += row[1] - row[0];
            for (int64_t at = row[0]; at < row[1]; at++) {
                sides.before[sides.size] = sides.last[ids[at]];
                sides.last[ids[at]] = (int32_t)sides.size;
                sides.count[ids[at]]++;
                sides.text[sides.size++] = ids[at] + 1;
            }
            sides.text[sides.size++] = 0;
        }
        for (int64_t s = 0; s < systems; s++) {
            const int64_t *row = starts + (references + s) * segments + i;
            const int32_t *hypothesis = ids + row[0];
            int64_t length = 0, pairs = 0, most = (row[1] - row[0]) * parts;
            Budget budget = {.left = smaller(most, reference_words), .parts = parts, .powers = powers};
            if (taken) budget.taken = taken + (row[0] - starts[references * segments]);
            for (; length < row[1] - row[0]; length++) {
                int32_t more = sides.count[hypothesis[length]];
                if (pairs + more > MOST_PAIRS) break;
                pairs += more;
            }
            if (pairs) {
                if (reserve(&heap, (size_t)pairs * sizeof(uint64_t))) goto done;
                int64_t found = list_runs(&sides, hypothesis, length, heap.memory);
                take_runs(&budget, heap.memory, found, used_here, used_there);
                memset(used_here, 0, (size_t)length);
                memset(used_there, 0, (size_t)sides.size);
            }
            totals[s * segments + i] = budget.total;
            rests[s * segments + i] = budget.rest;
            if (taken) runs[s * segments + i] = budget.runs;
        }
        for (int64_t j = 0; j < sides.size; j++)
            if (sides.text[j]) sides.last[sides.text[j] - 1] = sides.count[sides.text[j] - 1] = 0;
    }
    result = 0;
done:
    free(sides.text);
    free(sides.last);
    free(sides.before);
    free(sides.count);
    free(heap.memory);
    free(used_here);
    free(used_there);
    return result;
}
