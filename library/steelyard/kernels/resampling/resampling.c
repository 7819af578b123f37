/* How often each segment is drawn in each replicate of a bootstrap.
 *
 * The numbers are a frozen contract, because stored intervals and p-values rest on them: docs/reference/resampling.md
 * defines them word by word, tests/golden/resampling.json holds examples.
 */
#include <stdint.h>
#include <string.h>

#include "kernel.h"
#include "philox.h"

enum {
    BLOCK = 256,         /* segments of a block: one random byte chooses among them */
    CHUNK = 256,         /* replicates that share one stream per node */
    TABLE_EXPONENT = 12, /* 2^12 coins and more come from a table, fewer are thrown bit by bit */
    TABLE_ROW = 258,     /* see library/steelyard/kernels/resampling/binomial.py: 1 number for the outcome, 257 for the search */
    DEEPEST = 40         /* the tree has fewer than 2^24 leaves */
};

/* The number of tabulated bounds <= a random word, by bisection between the two bounds its first byte allows. */
static inline int64_t tabulated_half(uint64_t word, const uint64_t *bounds, const int64_t *row) {
    int64_t low = row[1 + (word >> 56)], high = row[2 + (word >> 56)];
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (bounds[middle] <= word) low = middle + 1;
        else high = middle;
    }
    return row[0] + low;
}

/* How many of `trials` fair coins show 1. */
static int64_t half(Stream *stream, int64_t trials, const uint64_t *bounds, const int64_t *rows) {
    int64_t ones = 0;
    for (int64_t high = trials >> TABLE_EXPONENT; high; ) {
        int exponent = 63 - __builtin_clzll((uint64_t)high);
        ones += tabulated_half(next_word(stream), bounds, rows + (int64_t)exponent * TABLE_ROW);
        high ^= (int64_t)1 << exponent;
    }
    int64_t rest = trials & (((int64_t)1 << TABLE_EXPONENT) - 1);
    for (; rest >= 64; rest -= 64) ones += __builtin_popcountll(next_word(stream));
    if (rest) ones += __builtin_popcountll(next_word(stream) & (((uint64_t)1 << rest) - 1));
    return ones;
}

/* Binomial(trials, probability / 2^64): each trial compares a random binary fraction with the probability,
 * one bit of all undecided trials at a time. */
static int64_t binomial(Stream *stream, int64_t trials, uint64_t probability, const uint64_t *bounds,
                        const int64_t *rows) {
    int64_t successes = 0;
    for (; trials && probability; probability <<= 1) {
        int64_t ones = half(stream, trials, bounds, rows);
        if (probability >> 63) {
            successes += trials - ones;
            trials = ones;
        } else {
            trials -= ones;
        }
    }
    return successes;
}

/* The stream of a leaf, cut into draws of 8 or 32 bits from the low end of each word. Replicates follow each other
 * without a gap. */
typedef struct {
    Stream stream;
    uint64_t word;
    int left; /* bits of `word` not yet used */
} Draws;

static inline uint64_t next_draw(Draws *draws, int width) {
    if (!draws->left) {
        draws->word = next_word(&draws->stream);
        draws->left = 64;
    }
    uint64_t taken = draws->word & (((uint64_t)1 << width) - 1);
    draws->word >>= width;
    draws->left -= width;
    return taken;
}

/* Counted twice, because an increment that waits for the one before it on the same segment costs several cycles. */
typedef struct {
    uint16_t even[BLOCK], odd[BLOCK];
} SegmentCounts;

static void draw_from_full_block(Draws *draws, int64_t wanted, SegmentCounts *drawn) {
    for (; wanted && draws->left; wanted--) drawn->even[next_draw(draws, 8)]++;
    for (; wanted >= 8; wanted -= 8) {
        uint64_t word = next_word(&draws->stream);
        drawn->even[word & 255]++;
        drawn->odd[word >> 8 & 255]++;
        drawn->even[word >> 16 & 255]++;
        drawn->odd[word >> 24 & 255]++;
        drawn->even[word >> 32 & 255]++;
        drawn->odd[word >> 40 & 255]++;
        drawn->even[word >> 48 & 255]++;
        drawn->odd[word >> 56]++;
    }
    for (; wanted; wanted--) drawn->even[next_draw(draws, 8)]++;
}

static void draw_from_short_block(Draws *draws, int64_t wanted, uint64_t size, SegmentCounts *drawn) {
    for (; wanted; wanted--) drawn->even[next_draw(draws, 32) * size >> 32]++;
}

/* Writes one replicate's counts of a block. A count that ran over 16 bits has lost 65536 draws, so the sum shows it. */
static int64_t write_counts(const SegmentCounts *drawn, int64_t size, int64_t wanted, void *counts, int64_t bytes) {
    uint32_t sum = 0;
    uint16_t bits = 0;
    uint8_t *narrow = counts;
    uint16_t *wide = counts;
    for (int64_t i = 0; i < size; i++) {
        uint16_t count = (uint16_t)(drawn->even[i] + drawn->odd[i]);
        sum += count;
        bits |= count;
    }
    if (sum != wanted || (bytes == 1 && bits > UINT8_MAX)) return COUNT_TOO_LARGE;
    if (bytes == 1) for (int64_t i = 0; i < size; i++) narrow[i] = (uint8_t)(drawn->even[i] + drawn->odd[i]);
    else for (int64_t i = 0; i < size; i++) wide[i] = (uint16_t)(drawn->even[i] + drawn->odd[i]);
    return 0;
}

typedef struct {
    int64_t low, high;     /* blocks */
    int64_t trials[CHUNK]; /* draws that each replicate of the chunk makes in these blocks */
} Node;

typedef struct {
    int64_t segments;
    uint64_t seed;
    int64_t first, last; /* blocks */
    const uint64_t *bounds;
    const int64_t *rows;
    char *counts;
    int64_t bytes, stride;
} Job;

static inline int64_t segments_before(const Job *job, int64_t block) {
    int64_t before = block * BLOCK;
    return before < job->segments ? before : job->segments;
}

static int64_t draw_leaf(const Job *job, const Node *leaf, uint64_t chunk, int replicates, char *counts) {
    int64_t size = segments_before(job, leaf->high) - leaf->low * BLOCK;
    Draws draws;
    draws.left = 0;
    start(&draws.stream, job->seed, (uint64_t)1 << 63 | (uint64_t)leaf->low, chunk);
    for (int r = 0; r < replicates; r++) {
        SegmentCounts drawn;
        memset(&drawn, 0, sizeof drawn);
        if (size == BLOCK) draw_from_full_block(&draws, leaf->trials[r], &drawn);
        else draw_from_short_block(&draws, leaf->trials[r], (uint64_t)size, &drawn);
        char *row = counts + r * job->stride * job->bytes;
        int64_t failed = write_counts(&drawn, size, leaf->trials[r], row, job->bytes);
        if (failed) return failed;
    }
    return 0;
}

/* Leaves in `node` what falls to the right half, and in `left` the other half. */
static void split(const Job *job, Node *node, Node *left, uint64_t chunk, int replicates) {
    int64_t half_blocks = 1;
    while (half_blocks * 2 < node->high - node->low) half_blocks *= 2;
    int64_t middle = node->low + half_blocks;
    int64_t here = segments_before(job, node->high) - node->low * BLOCK;
    uint64_t probability = (uint64_t)(((uint128)(uint64_t)(half_blocks * BLOCK) << 64) / (uint64_t)here);
    Stream stream;
    start(&stream, job->seed, (uint64_t)node->low << 32 | (uint64_t)node->high, chunk);
    for (int r = 0; r < replicates; r++) {
        left->trials[r] = binomial(&stream, node->trials[r], probability, job->bounds, job->rows);
        node->trials[r] -= left->trials[r];
    }
    left->low = node->low;
    left->high = node->low = middle;
}

static int64_t draw_chunk(const Job *job, int64_t draws, uint64_t chunk, int replicates, char *counts) {
    Node stack[DEEPEST];
    int64_t depth = 1;
    stack[0].low = 0;
    stack[0].high = (job->segments + BLOCK - 1) / BLOCK;
    for (int r = 0; r < replicates; r++) stack[0].trials[r] = draws;
    while (depth) {
        Node *node = &stack[depth - 1];
        if (node->high <= job->first || node->low >= job->last) {
            depth--;
        } else if (node->high - node->low == 1) {
            char *here = counts + (node->low - job->first) * BLOCK * job->bytes;
            int64_t failed = draw_leaf(job, node, chunk, replicates, here);
            if (failed) return failed;
            depth--;
        } else {
            split(job, node, node + 1, chunk, replicates);
            depth++;
        }
    }
    return 0;
}

/* Writes counts (replicates, segments of blocks first..last) of `bytes` bytes each: how often each of `draws` draws
 * hits each segment. Returns 0, or COUNT_TOO_LARGE where one does not fit.
 *
 * Reads bounds: uint64[*], rows: int64[*, 258]. Writes
 * counts: uint8|uint16[replicates, min(last * 256, segments) - first * 256]. */
KERNEL int64_t steelyard_resampling_counts(int64_t segments, int64_t draws, uint64_t seed, int64_t replicates,
                                           int64_t first, int64_t last, const uint64_t *bounds, const int64_t *rows,
                                           void *counts, int64_t bytes) {
    Job job = {segments, seed, first, last, bounds, rows, counts, bytes, 0};
    job.stride = segments_before(&job, last) - first * BLOCK;
    if (job.stride <= 0) return 0;
    for (int64_t done = 0; done < replicates; done += CHUNK) {
        int wanted = replicates - done < CHUNK ? (int)(replicates - done) : CHUNK;
        char *rows_here = job.counts + done * job.stride * bytes;
        int64_t failed = draw_chunk(&job, draws, (uint64_t)(done / CHUNK), wanted, rows_here);
        if (failed) return failed;
    }
    return 0;
}
