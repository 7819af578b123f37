/* The alignment of a hypothesis with a reference, and the shifts that it suggests. */
#include "ter_bounds.h"

enum { LONGEST_SHIFT = 10, FARTHEST_SHIFT = 50, MOST_CANDIDATES = 1000, NO_ERROR = LONGEST_SHIFT + 1,
       NEAR = 2 * FARTHEST_SHIFT + 1 };

typedef struct {
    int32_t *targets;         /* of each reference word: the position behind its partner; entry 0 is the beginning */
    uint8_t *hypothesis_error; /* of each hypothesis word: 1 where it is an error, 2 where the next is, ... */
    uint8_t *reference_error;  /* the same of each reference word */
    uint64_t *partner;        /* of each hypothesis word: the column that it stands for, 0 for none; NARROW: its cell */
    uint64_t *arrival;        /* BAND: of each row: where the alignment comes to it, and the errors that follow */
    uint64_t *errors;         /* not NARROW: bits of the reference words whose error is at most 1, at most 2, ..., each
                               * row behind 64 bits of nothing */
    int64_t parts;            /* of such a row */
    uint64_t *near;           /* not NARROW: of each hypothesis word i: where it is among the NEAR reference words from
                               * i - FARTHEST_SHIFT on; two numbers */
    uint64_t *begins;         /* of those: with which blocks begin that may move */
} Alignment;

/* Hypothesis words [i, to_i) and reference words [j, to_j). */
typedef struct {
    int64_t i, to_i, j, to_j;
} Part;

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

static inline uint64_t arrival_at(int64_t j, uint8_t in_hypothesis, uint8_t in_reference) {
    return (uint64_t)j << 16 | (uint64_t)in_hypothesis << 8 | in_reference;
}

/* Walks back from (n, m). Each reference word gets a partner position: of the hypothesis word that stands for it, or
 * for a missing word of the last hypothesis word before it. BAND: rows up to `begin` and behind `end` are as they were
 * when it was called before. Returns the words that it went through. */
static inline Part align(const Table *table, Method method, int64_t begin, int64_t end, Alignment *out) {
    int64_t i = table->n, j = table->m;
    uint8_t in_hypothesis = NO_ERROR, in_reference = NO_ERROR;
    if (method == BAND && end < i) {
        i = end;
        j = (int64_t)(out->arrival[i] >> 16);
        in_hypothesis = out->arrival[i] >> 8 & 255;
        in_reference = out->arrival[i] & 255;
    } else if (method == BAND) {
        out->arrival[i] = arrival_at(j, in_hypothesis, in_reference);
    }
    int64_t last_i = i, last_j = j;
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
            if (method != NARROW) out->partner[i] = 0;
        } else {
            out->targets[j] = (int32_t)i;
            in_hypothesis = same ? distance_to_error(in_hypothesis) : 1;
            in_reference = same ? distance_to_error(in_reference) : 1;
            out->hypothesis_error[--i] = in_hypothesis;
            out->reference_error[--j] = in_reference;
            if (method != NARROW) out->partner[i] = (uint64_t)j + 1;
        }
        if (method == BAND && up >= 0) {
            uint64_t here = arrival_at(j, in_hypothesis, in_reference);
            if (i <= begin && out->arrival[i] == here) return (Part){i, last_i, j, last_j};
            out->arrival[i] = here;
        }
    }
    for (; j; j--) {
        out->targets[j] = 0;
        out->reference_error[j - 1] = 1;
    }
    for (; i; i--) {
        out->hypothesis_error[i - 1] = 1;
        out->partner[i - 1] = 0;
        if (method == BAND) out->arrival[i - 1] = arrival_at(0, 1, in_reference);
    }
    out->targets[0] = 0;
    return (Part){0, last_i, 0, last_j};
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

/* Brings `errors` up to date after the alignment went through `seen`, and returns that without the reference words on
 * both ends that are errors as before, or are none as before. */
static inline Part mark_errors(const Alignment *alignment, Part seen) {
    int64_t parts = alignment->parts, begin = seen.to_j, end = seen.j;
    uint64_t *first = alignment->errors, *row = first;
    for (int64_t j = seen.j; j < seen.to_j; j++) {
        uint64_t cell = (uint64_t)1 << j % WORD_BITS, *bits = first + 1 + j / WORD_BITS;
        uint64_t is = alignment->reference_error[j] == 1 ? cell : 0;
        if ((*bits & cell) == is) continue;
        *bits ^= cell;
        begin = smaller(begin, j);
        end = j + 1;
    }
    seen.j = begin;
    seen.to_j = end;
    if (begin >= end) return seen;
    for (int64_t length = 2; length <= LONGEST_SHIFT; length++, row += parts) {
        for (int64_t p = 0; p + 1 < parts; p++)
            row[parts + p] = first[p] | row[p] >> 1 | row[p + 1] << (WORD_BITS - 1);
        row[2 * parts - 1] = 0;
    }
    return seen;
}

/* Fills `near` for these words. */
static inline void find_near(const Table *table, int64_t begin, int64_t end, Alignment *out) {
    for (int64_t i = begin; i < end; i++) {
        int64_t low = i - FARTHEST_SHIFT + 1, next = low + WORD_BITS, hidden = larger(0, -low);
        int32_t word = table->hypothesis[i];
        low += hidden;
        out->near[2 * i] = low <= table->m ? columns_with(table, low, word) << hidden : 0;
        out->near[2 * i + 1] = next <= table->m ? columns_with(table, next, word) & low_bits(NEAR - WORD_BITS) : 0;
    }
}

/* Those of the reference words from `from` on, of which this half of `near` tells, that blocks begin with which have an
 * error on both sides. */
static inline uint64_t begins_of(const Table *table, const Alignment *alignment, int64_t i, int half, int64_t from) {
    uint64_t same = alignment->near[2 * i + half], begins = 0;
    /* Not the one that stands for it. */
    uint64_t partner = alignment->partner[i] - 1 - (uint64_t)from;
    if (partner < WORD_BITS) same &= ~((uint64_t)1 << partner);
    for (int64_t length = 1; same; length++) {
        if (length >= alignment->hypothesis_error[i])
            begins |= same & bits_from(alignment->errors + (length - 1) * alignment->parts, from + WORD_BITS);
        if (length == LONGEST_SHIFT || i + length == table->n) break;
        same &= alignment->near[2 * (i + length) + half];
    }
    return begins;
}

/* Brings `begins` up to date where blocks reach into what has changed. */
static inline void find_begins(const Table *table, const Alignment *alignment, Part changed) {
    changed.i -= LONGEST_SHIFT - 1;
    changed.j -= LONGEST_SHIFT - 1;
    int64_t begin = larger(0, smaller(changed.i, changed.j - FARTHEST_SHIFT));
    int64_t end = smaller(table->n, larger(changed.to_i, changed.to_j + FARTHEST_SHIFT));
    for (int64_t i = begin; i < end; i++) {
        int is_changed = i >= changed.i && i < changed.to_i;
        int64_t from = i - FARTHEST_SHIFT;
        for (int half = 0; half < 2; half++, from += WORD_BITS) {
            uint64_t near = alignment->near[2 * i + half];
            if (!is_changed) near &= low_bits(larger(0, changed.to_j - from)) & ~low_bits(larger(0, changed.j - from));
            if (near || is_changed) alignment->begins[2 * i + half] = begins_of(table, alignment, i, half, from);
        }
    }
}

/* All candidates, or as many as it takes to reach the limit. */
static inline void propose_all(const Table *table, Method method, const Alignment *alignment, Candidates *out) {
    out->count = 0;
    for (int64_t i = 0; i < table->n && out->tried < MOST_CANDIDATES; i++) {
        if (method == NARROW) {
            int64_t from = larger(0, i - FARTHEST_SHIFT), to = smaller(table->m, i + FARTHEST_SHIFT + 1);
            if (from >= to) break;
            uint64_t near = low_bits(to) & ~low_bits(from);
            propose_each(table, alignment, i, 0, table->equal[i] & near & ~alignment->partner[i], out);
        } else if (alignment->begins[2 * i] | alignment->begins[2 * i + 1]) {
            propose_each(table, alignment, i, i - FARTHEST_SHIFT, alignment->begins[2 * i], out);
            propose_each(table, alignment, i, i - FARTHEST_SHIFT + WORD_BITS, alignment->begins[2 * i + 1], out);
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
