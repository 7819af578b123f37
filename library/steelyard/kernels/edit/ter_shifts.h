/* The alignment of a hypothesis with a reference, and the shifts that it suggests. */
#include "ter_distance.h"

enum { LONGEST_SHIFT = 10, FARTHEST_SHIFT = 50, MOST_CANDIDATES = 1000, NO_ERROR = LONGEST_SHIFT + 1 };

typedef struct {
    int32_t *targets;         /* of each reference word: the position behind its partner; entry 0 is the beginning */
    uint8_t *hypothesis_error; /* of each hypothesis word: 1 where it is an error, 2 where the next is, ... */
    uint8_t *reference_error;  /* the same of each reference word */
    uint64_t *partner;        /* NARROW: of each hypothesis word: the reference word that it stands for */
} Alignment;

/* Words [start, start + length) go in front of the word that stands at `target`. */
typedef struct {
    int64_t length, start, target;
} Shift;

/* Sorted so that of two shifts with equal gain the first is the one to take. */
typedef struct {
    int64_t tried; /* candidates of all rounds, repetitions and idle ones included, as sacreBLEU counts them */
    int64_t count;
    uint64_t packed[MOST_CANDIDATES], sorted[MOST_CANDIDATES];
} Candidates;

static inline uint64_t pack(int64_t length, int64_t start, int64_t target) {
    return (uint64_t)(LONGEST_SHIFT - length) << 60 | (uint64_t)start << 30 | (uint64_t)target;
}

static inline Shift unpack(uint64_t packed) {
    uint64_t position = ((uint64_t)1 << 30) - 1;
    return (Shift){
        LONGEST_SHIFT - (int64_t)(packed >> 60), (int64_t)(packed >> 30 & position), (int64_t)(packed & position),
    };
}

static inline uint8_t distance_to_error(uint8_t behind) { return behind < NO_ERROR ? behind + 1 : NO_ERROR; }

/* Walks back from (n, m). Each reference word gets a partner position: of the hypothesis word that stands for it, or
 * for a missing word of the last hypothesis word before it. */
static inline void align(const Table *table, Method method, Alignment *out) {
    int64_t i = table->n, j = table->m;
    uint8_t in_hypothesis = NO_ERROR, in_reference = NO_ERROR;
    while (i && j) {
        int same, up;
        if (method == NARROW) {
            uint64_t cell = (uint64_t)1 << (j - 1);
            same = (table->equal[i - 1] & cell) != 0;
            up = 0;
            if (!same && table->diagonal[i - 1] & cell) up = table->minus[i - 1] & cell ? 1 : -1;
            out->partner[i - 1] = up ? 0 : cell;
        } else if (method == BAND) {
            int64_t bit = j - table->low[i], above = j - table->low[i - 1];
            same = table->equal[i - 1] >> bit & 1;
            up = 0;
            if (i > 1 && j > table->high[i - 1] + 1) {
                up = -1;
            } else if (bit == 0 && above == 0) {
                up = 1;
            } else if (!same && table->diagonal[i - 1] >> bit & 1) {
                up = i > 1 && table->minus[i - 1] >> above & 1 ? 1 : -1;
            }
        } else {
            const int32_t *above = wide_row(table, i - 1);
            int32_t value = wide_cell(table, wide_row(table, i), i, j);
            same = table->columns[j] == table->hypothesis[i - 1];
            up = 0;
            if (value != wide_cell(table, above, i - 1, j - 1) + !same)
                up = value == wide_cell(table, above, i - 1, j) + 1 ? 1 : -1;
        }
        if (up < 0) {
            out->targets[j] = (int32_t)i;
            out->reference_error[--j] = in_reference = 1;
        } else if (up > 0) {
            out->hypothesis_error[--i] = in_hypothesis = 1;
        } else {
            out->targets[j] = (int32_t)i;
            in_hypothesis = same ? distance_to_error(in_hypothesis) : 1;
            in_reference = same ? distance_to_error(in_reference) : 1;
            out->hypothesis_error[--i] = in_hypothesis;
            out->reference_error[--j] = in_reference;
        }
    }
    for (; j; j--) {
        out->targets[j] = 0;
        out->reference_error[j - 1] = 1;
    }
    for (; i; i--) {
        out->hypothesis_error[i - 1] = 1;
        out->partner[i - 1] = 0;
    }
    out->targets[0] = 0;
}

/* Candidates that move a block hypothesis[i..] = reference[j..]: of every length that holds an error on both sides
 * and does not reach the partner of reference[j]. */
static inline void propose(const Table *table, const Alignment *alignment, int64_t i, int64_t j, Candidates *out) {
    int64_t shortest = larger(alignment->hypothesis_error[i], alignment->reference_error[j]);
    int64_t longest = smaller(LONGEST_SHIFT, smaller(table->n - i, table->m - j));
    int64_t partner = (int64_t)alignment->targets[j + 1] - 1;
    if (partner >= i) longest = smaller(longest, partner - i);
    if (shortest > longest) return;
    const int32_t *left = table->hypothesis + i, *right = table->columns + 1 + j;
    int64_t run = 1;
    while (run < longest && left[run] == right[run]) run++;
    for (int64_t length = shortest; length <= run; length++) {
        int32_t before = -1;
        for (int64_t k = j; k <= j + length; k++) {
            int32_t target = alignment->targets[k];
            if (target == before) continue;
            before = target;
            out->tried++;
            /* In front of itself a block does not move. */
            if (target != i && out->count < MOST_CANDIDATES) out->packed[out->count++] = pack(length, i, target);
        }
        if (out->tried >= MOST_CANDIDATES) return;
    }
}

static inline void propose_each(const Table *table, const Alignment *alignment, int64_t i, int64_t j, uint64_t found,
                                Candidates *out) {
    for (; found && out->tried < MOST_CANDIDATES; found &= found - 1)
        propose(table, alignment, i, j + __builtin_ctzll(found), out);
}

/* All candidates, or as many as it takes to reach the limit. */
static inline void propose_all(const Table *table, Method method, const Alignment *alignment, Candidates *out) {
    out->count = 0;
    for (int64_t i = 0; i < table->n && out->tried < MOST_CANDIDATES; i++) {
        int64_t from = larger(0, i - FARTHEST_SHIFT), to = smaller(table->m, i + FARTHEST_SHIFT + 1);
        if (from >= to) break;
        if (method == NARROW) {
            uint64_t near = low_bits(to) & ~low_bits(from);
            propose_each(table, alignment, i, 0, table->equal[i] & near & ~alignment->partner[i], out);
        } else if (alignment->hypothesis_error[i] <= LONGEST_SHIFT) {
            int32_t word = table->hypothesis[i];
            for (; from < to; from += WORD_BITS)
                propose_each(table, alignment, i, from, columns_with(table, from + 1, word) & low_bits(to - from), out);
        }
    }
}

static void sort_candidates(Candidates *candidates) {
    uint64_t *list = candidates->packed;
    if (candidates->count > 12) {
        int64_t place[LONGEST_SHIFT + 1] = {0};
        for (int64_t c = 0; c < candidates->count; c++) place[list[c] >> 60]++;
        for (int64_t length = 0, sum = 0; length <= LONGEST_SHIFT; length++) {
            int64_t many = place[length];
            place[length] = sum;
            sum += many;
        }
        for (int64_t c = 0; c < candidates->count; c++) candidates->sorted[place[list[c] >> 60]++] = list[c];
        memcpy(list, candidates->sorted, (size_t)candidates->count * sizeof *list);
    }
    /* Blocks come by start, and their targets nearly so: little is left to do. */
    for (int64_t c = 1; c < candidates->count; c++) {
        uint64_t packed = list[c];
        int64_t at = c;
        for (; at && list[at - 1] > packed; at--) list[at] = list[at - 1];
        list[at] = packed;
    }
}
