/* The order of the hypothesis's words that CharacTER compares with the reference: greedy search with the candidates
 * and the tie rule of the authors' program.
 *
 * Each round tries every block hypothesis[i..i+l) = reference[j..j+l), i != j, that cannot be made longer to its right:
 * it is taken out and put in front of the word that is then number j (or at the end). The order with the least word
 * edit distance is taken, of several the last one in the order of the words' code points; the search ends when none
 * has a smaller distance than before.
 */
#include <stdlib.h>

#include "myers.h"
#include "spelling.h"
#include "swap.h"

/* More words are not moved, and the search ends before a round that would go beyond all STEPS of its pair: one step is
 * one hypothesis word against 64 reference words in one trial. */
enum { MOST_WORDS = 1000, ROW_PARTS = (MOST_WORDS + WORD_BITS - 1) / WORD_BITS };
static const int64_t STEPS = 200000000;

typedef struct {
    int64_t n, m, parts; /* words of hypothesis and reference; the latter in 64s */
    const int32_t *reference;
    int32_t hypothesis[MOST_WORDS]; /* in its current order */
    int32_t scratch[MOST_WORDS];
    int16_t *slot; /* by word: its row in `places`; 0 where the reference does not have it */
    uint64_t places[(MOST_WORDS + 1) * ROW_PARTS]; /* where the reference has it; row 0 stays empty */
    BitRow rows[(MOST_WORDS + 1) * ROW_PARTS];
    int64_t distance;
} Order;

static inline const uint64_t *places_of(const Order *order, int64_t i) {
    return order->places + order->slot[order->hypothesis[i]] * order->parts;
}

static inline void advance(BitRow *row, const uint64_t *equal, int64_t parts) {
    if (parts == 1) next_row(row, *equal);
    else next_wide_row(row, equal, parts);
}

static inline void enter_reference(Order *order, const int32_t *words, int64_t m) {
    order->reference = words;
    order->m = m;
    order->parts = (m + WORD_BITS - 1) / WORD_BITS;
    memset(order->places, 0, (size_t)((m + 1) * order->parts) * sizeof *order->places);
    int16_t used = 0;
    for (int64_t j = 0; j < m; j++) {
        int16_t *slot = &order->slot[words[j]];
        if (!*slot) *slot = ++used;
        order->places[*slot * order->parts + j / WORD_BITS] |= (uint64_t)1 << j % WORD_BITS;
    }
}

static inline void leave_reference(Order *order) {
    for (int64_t j = 0; j < order->m; j++) order->slot[order->reference[j]] = 0;
}

static inline void fill_rows(Order *order, int64_t from) {
    int64_t parts = order->parts;
    for (int64_t p = 0; p < parts; p++) order->rows[p] = ROW_0;
    for (int64_t i = from; i < order->n; i++) {
        BitRow *row = order->rows + (i + 1) * parts;
        memcpy(row, row - parts, (size_t)parts * sizeof *row);
        advance(row, places_of(order, i), parts);
    }
    order->distance = order->n + across(order->rows + order->n * parts, order->m);
}

/* How much the distance falls with this swap, or something below `least` where it falls less than that. */
static inline int64_t gain(const Order *order, Swap swap, int64_t least) {
    int64_t parts = order->parts;
    BitRow row[ROW_PARTS];
    memcpy(row, order->rows + swap.begin * parts, (size_t)parts * sizeof *row);
    for (int64_t i = swap.middle; i < swap.end; i++) advance(row, places_of(order, i), parts);
    for (int64_t i = swap.begin; i < swap.middle; i++) advance(row, places_of(order, i), parts);
    for (int64_t i = swap.end;; i++) {
        /* The same words follow, so that the gain is at most the largest fall of a cell of this row. */
        const BitRow *before = order->rows + i * parts;
        int64_t fall = 0;
        for (int64_t p = 0; p < parts; p++)
            fall += ones(before[p].plus & ~row[p].plus) + ones(row[p].minus & ~before[p].minus);
        if (fall < least) return least - 1;
        if (i == order->n) break;
        advance(row, places_of(order, i), parts);
    }
    return order->distance - order->n - across(row, order->m);
}

static inline int32_t swapped_word(const Order *order, Swap swap, int64_t at) {
    int64_t right = swap.end - swap.middle;
    if (at >= swap.begin && at < swap.end) at += at - swap.begin < right ? swap.middle - swap.begin : -right;
    return order->hypothesis[at];
}

/* Whether the first order comes behind the second one. */
static inline int comes_behind(const Order *order, const Spelling *spelling, Swap one, Swap other) {
    int64_t at = smaller(one.begin, other.begin), end = larger(one.end, other.end);
    int32_t a = 0, b = 0;
    for (; at < end && a == b; at++) {
        a = swapped_word(order, one, at);
        b = swapped_word(order, other, at);
    }
    if (a == b) return 0;
    const int32_t *left = spelling->letters + spelling->starts[a], *right = spelling->letters + spelling->starts[b];
    int64_t i = 0, m = letters_of(spelling, a), n = letters_of(spelling, b);
    while (i < m && i < n && left[i] == right[i]) i++;
    return i < m && (i == n || left[i] > right[i]);
}

static inline int64_t count_candidates(const Order *order) {
    int64_t count = 0;
    for (int64_t i = 0; i < order->n; i++) {
        const uint64_t *places = places_of(order, i);
        for (int64_t p = 0; p < order->parts; p++) count += ones(places[p]);
        count -= i < order->m && order->hypothesis[i] == order->reference[i];
    }
    return count;
}

/* Tries the blocks that begin with hypothesis[i] = reference[j]. */
static inline void try_shift(const Order *order, const Spelling *spelling, int64_t i, int64_t j, int64_t *best,
                             Swap *found) {
    int64_t length = 1, most = smaller(order->n - i, order->m - j);
    while (length < most && order->hypothesis[i + length] == order->reference[j + length]) length++;
    int64_t target = smaller(j, order->n - length);
    Swap swap = target < i ? (Swap){target, i, i + length} : (Swap){i, i + length, target + length};
    /* To take l words out and put them in elsewhere is 2 * l edits, and distances obey the triangle inequality. */
    int64_t least = larger(*best, 1);
    if (target == i || 2 * smaller(length, swap.end - swap.begin - length) < least) return;
    int64_t gained = gain(order, swap, least);
    if (gained < least) return;
    if (gained > *best || comes_behind(order, spelling, swap, *found)) *found = swap;
    *best = gained;
}

/* Brings the hypothesis into its final order. Returns whether anything moved. */
static inline int find_order(Order *order, const Spelling *spelling) {
    int64_t spent = 0;
    int moved = 0;
    for (fill_rows(order, 0); order->distance;) {
        spent += count_candidates(order) * order->n * order->parts;
        if (spent > STEPS) break;
        int64_t best = 0;
        Swap swap = {0, 0, 0};
        for (int64_t i = 0; i < order->n; i++) {
            const uint64_t *places = places_of(order, i);
            for (int64_t p = 0; p < order->parts; p++)
                for (uint64_t left = places[p]; left; left &= left - 1) {
                    int64_t j = p * WORD_BITS + __builtin_ctzll(left);
                    if (j != i) try_shift(order, spelling, i, j, &best, &swap);
                }
        }
        if (!best) break;
        swap_words(order->hypothesis, swap, order->scratch);
        fill_rows(order, swap.begin);
        moved = 1;
    }
    return moved;
}
