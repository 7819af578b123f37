/* What a shift can gain at most, told from the alignments of the words as they stand: most shifts need not be tried.
 *
 * DISTANCES TO THE END. rest(i, j) is the distance of the hypothesis words from i on to the reference words from j on,
 * in a beam that is wider than sacreBLEU's: 64 columns, the last one top[i]. An edge of the table, from (i, j) to
 * (i + 1, j), (i, j + 1) or (i + 1, j + 1), is late by its cost + rest(head) - rest(tail), which is never negative.
 * A path from (0, 0) to (n, m) costs rest(0, 0) and what its edges are late.
 *
 * LATENESS. late(i, j) is the least sum over the paths from (0, 0) to (i, j), in this beam too: 0 where the cell is on
 * an alignment of least cost. removal(s) is the least sum over the paths that drop the word s: through an edge from
 * (s, j) to (s + 1, j).
 *
 * MOVES. Let the word s move to row t, 1 <= t <= s (the other words between move down by a row). A path of the new
 * order is one of the old order to (t, j), an edge for the word to (t, k), the old order from there to (s, h), and from
 * (s + 1, h) to the end. Its cost is at least
 *
 *     rest(0, 0) + late(t, j) + [cost of the edge + rest(t, k) - rest(t, j)] - 1 + max(0, removal(s) - late(t, k))
 *
 * because the way from (t, k) on drops the word. Where the word moves to a row t > s, the last maximum is not there,
 * and late(t, j) is max(late(t, j), removal(s)). The edge's part in brackets is never less than -1, which it is where
 * the word is the reference's word j and rest(t, j + 1) = rest(t, j) - 1. So one word gains at most 2, and a block of l
 * words, in the same way, at most 2 * l - removal(any of them). The words between, which move by l rows, must not
 * leave the wider beam: MARGIN.
 *
 * sacreBLEU's beam can only make the new order cost more, and the old one: by `excess` over rest(0, 0).
 *
 * Rows are stored as in ter_distance.h, but from right to left, as rest() is computed: bit b of row i is column
 * top[i] - b, `plus` where rest(i, j) = rest(i, j + 1) + 1. */
#include "swap.h"
#include "ter_distance.h"

enum { MARGIN = 6, WIDER_RIGHT = 31 }; /* columns that a row may be off; columns on the right of the pseudo-diagonal */

typedef struct {
    int usable;
    int64_t longest; /* block that may pass others: they move by so many rows, and not by more than MARGIN columns */
    int64_t rest;   /* rest(0, 0) */
    int64_t excess;
    int32_t *top;
    int32_t *step;                   /* of each row: how rest() of its last column differs from the row behind's */
    uint64_t *plus, *minus;          /* of each row: how rest() differs between columns */
    uint64_t *down, *down_late;      /* edges to (i + 1, j) that are not late, or by 1 */
    uint64_t *diagonal, *diagonal_late; /* the same of edges to (i + 1, j + 1) */
    uint64_t *on_time, *late;        /* cells with lateness 0 and 1 */
    uint8_t *removal;                /* of each word: 0, 1, or 2 for more */
} Bounds;

static inline uint64_t shifted(uint64_t bits, int64_t by) { return by < 0 ? bits >> 1 : bits << by; }

/* Which of the 64 columns from `top` + 1 to the left have this word. */
static inline uint64_t columns_before(const Table *table, int64_t top, int32_t word) {
    return bits_from(found_row(table, word, 1), table->m - top);
}

static void bounds_shape(Bounds *bounds, const Table *table) {
    double ratio = (double)table->m / (double)table->n;
    bounds->longest = table->parts ? (int64_t)(MARGIN / ratio) : 0;
    bounds->usable = bounds->longest > 0;
    if (!bounds->usable) return;
    bounds->rest = 0;
    bounds->plus[table->n] = ROW_0.plus;
    bounds->minus[table->n] = ROW_0.minus;
    memset(bounds->step, 0, (size_t)table->n * sizeof *bounds->step);
    bounds->plus[0] = bounds->minus[0] = 0;
    for (int64_t i = 0; i <= table->n; i++)
        bounds->top[i] = (int32_t)smaller(table->m, (int64_t)((double)i * ratio) + WIDER_RIGHT);
}

/* rest() where words [begin, end) are new. Returns the first row of those that differ by more than a constant. */
static inline int64_t rows_to_the_end(Bounds *bounds, const Table *table, int64_t begin, int64_t end) {
    BitRow row = {bounds->plus[end], bounds->minus[end]};
    for (int64_t i = end - 1; i >= 0; i--) {
        /* As band_step, from the other end. */
        int64_t top = bounds->top[i], moved = bounds->top[i + 1] - top;
        uint64_t stays = moved == 0;
        int32_t step = 1;
        if (moved > 1) {
            uint64_t between = low_bits(moved) & ~(uint64_t)1;
            step += (int32_t)(ones(row.plus & between) - ones(row.minus & between));
        }
        row.plus = row.plus >> moved | ~(~(uint64_t)0 >> moved);
        row.minus >>= moved;
        row.plus &= ~stays;
        BitRow below = row;
        uint64_t equal = columns_before(table, top, table->hypothesis[i]) & ~stays;
        uint64_t same = next_row(&row, equal);
        step -= (int32_t)(same & ~stays & 1);
        bounds->rest += step - bounds->step[i];
        bounds->step[i] = step;
        uint64_t more = below.minus | ~(same | below.plus), less = below.plus & same;
        bounds->down[i] = more;
        bounds->down_late[i] = ~(more | less);
        bounds->diagonal[i] = (equal | ~same) & ~stays;
        bounds->diagonal_late[i] = same & ~equal & ~stays;
        if (i <= begin && row.plus == bounds->plus[i] && row.minus == bounds->minus[i]) return i;
        uint64_t across = i ? 0 : low_bits(top + 1) & ~(uint64_t)1;
        bounds->rest += ones(row.plus & across) - ones(row.minus & across);
        bounds->rest -= ones(bounds->plus[i] & across) - ones(bounds->minus[i] & across);
        bounds->plus[i] = row.plus;
        bounds->minus[i] = row.minus;
    }
    return 0;
}

/* Edges to (i, j + 1) that are not late, and that are late by 1. */
static inline uint64_t right_edges(const Bounds *bounds, int64_t i) { return bounds->plus[i] & ~(uint64_t)1; }
static inline uint64_t late_right_edges(const Bounds *bounds, int64_t i) {
    return ~(bounds->plus[i] | bounds->minus[i] | 1);
}

static inline uint64_t spread_right(uint64_t cells, uint64_t edges) {
    for (uint64_t more = cells; more;) {
        more = (more & edges) >> 1 & ~cells;
        cells |= more;
    }
    return cells;
}

/* Lateness where edges between rows `begin` and `end` may have changed. */
static inline void lateness(Bounds *bounds, int64_t n, int64_t begin, int64_t end) {
    uint64_t on_time = begin ? bounds->on_time[begin] : (uint64_t)1 << bounds->top[0];
    uint64_t late = begin ? bounds->late[begin] : 0;
    for (int64_t i = begin;; i++) {
        uint64_t right = right_edges(bounds, i);
        on_time = spread_right(on_time, right);
        late = spread_right(late | (on_time & late_right_edges(bounds, i)) >> 1, right) & ~on_time;
        if (i >= end && on_time == bounds->on_time[i] && late == bounds->late[i]) break;
        bounds->on_time[i] = on_time;
        bounds->late[i] = late;
        if (i == n) break;
        uint64_t down = on_time & bounds->down[i];
        uint64_t down_late = (late & bounds->down[i]) | (on_time & bounds->down_late[i]);
        uint64_t across = on_time & bounds->diagonal[i];
        uint64_t across_late = (late & bounds->diagonal[i]) | (on_time & bounds->diagonal_late[i]);
        int64_t moved = bounds->top[i + 1] - bounds->top[i];
        bounds->removal[i] = down ? 0 : down_late ? 1 : 2;
        on_time = shifted(down, moved) | shifted(across, moved - 1);
        late = shifted(down_late, moved) | shifted(across_late, moved - 1);
    }
}

static inline void fill_bounds(Bounds *bounds, const Table *table, int64_t begin, int64_t end) {
    if (!bounds->usable) return;
    begin = rows_to_the_end(bounds, table, begin, end);
    lateness(bounds, table->n, begin, end);
    bounds->excess = table->distance - bounds->rest;
}

/* Whether word s gains `least` by a move to row t, where it can. */
static inline int word_can_gain(const Bounds *bounds, const Table *table, int64_t s, int64_t t, int64_t least) {
    int removal = bounds->removal[s];
    if (least > 2 || removal == 2 || removal + least > 2) return 0;
    uint64_t same = columns_before(table, bounds->top[t], table->hypothesis[s]);
    uint64_t on_time = bounds->on_time[t], late = bounds->late[t];
    uint64_t right = right_edges(bounds, t), late_right = late_right_edges(bounds, t);
    if (on_time & right & same) return 1;
    if (least == 2) return 0;
    if (!removal && on_time & right) return 1;
    if (t > s) return ((late & right) | (removal ? 0 : on_time & late_right)) & same ? 1 : 0;
    return ((late & right) | (on_time & late_right)) & same & (removal ? late << 1 : ~(uint64_t)0) ? 1 : 0;
}

/* Whether a swap can gain `least`, which is at least 1. */
static inline int can_gain(const Bounds *bounds, const Table *table, Swap swap, int64_t least) {
    if (!bounds->usable) return 1;
    least -= bounds->excess;
    if (least <= 0) return 1;
    int64_t left = swap.middle - swap.begin, right = swap.end - swap.middle;
    if (right == 1) return word_can_gain(bounds, table, swap.middle, swap.begin, least);
    if (left == 1) return word_can_gain(bounds, table, swap.begin, swap.end, least);
    /* The words of the shorter side move by as many rows as the other has words. */
    int64_t length = smaller(left, right), from = left < right ? swap.begin : swap.middle;
    if (length > bounds->longest) return 1;
    int64_t most = 2 * length, removal = 0;
    for (int64_t i = from; i < from + length && removal < 2; i++) removal = larger(removal, bounds->removal[i]);
    return most - removal >= least;
}
