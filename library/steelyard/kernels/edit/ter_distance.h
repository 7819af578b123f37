/* Edit distances of one hypothesis to one reference, in three ways that give the same numbers and alignments.
 *
 * The table D[i][j] is the distance of the first i hypothesis words to the first j reference words. TER as
 * sacreBLEU defines it fills row i > 0 only in a beam around the pseudo-diagonal d = floor(i * m / n): columns
 * d - w to d + w - 1, with w = 25, or ceil(m / n / 2 + 25) where m / n > 50. Cells outside are infinite. On equal
 * cost a cell comes from its diagonal, then from above, then from the left. (sacreBLEU keeps rows by the words that
 * lead to them. All orders of a hypothesis have the same length, so the same beam: kept rows equal computed ones.)
 *
 * NARROW  The whole table, one row per machine word (Myers 1999; Hyyro 2003): rows are stored as differences
 *         between neighbouring cells, plus[i] where D[i][j] - D[i][j-1] = 1 and minus[i] where it is -1.
 *         Only for m <= 64 and where the beam cannot matter (beam_cannot_matter below).
 * BAND    The beam's 50 columns, one row per machine word. Bit b of row i is column low[i] + b.
 * WIDE    The beam with plain numbers, for references more than 50 times as long as the hypothesis.
 */
#include <stdlib.h>
#include <string.h>

#include "myers.h"

enum { BEAM = 25, PADDING = 128, NO_WORD = -1, BEYOND_BEAM = INT32_MAX / 2, MOST_FOUND = 2048 };

typedef enum { NARROW, BAND, WIDE } Method;

typedef struct {
    int64_t n, m;           /* words of hypothesis and reference */
    int32_t *hypothesis;    /* in their current order */
    const int32_t *columns; /* columns[j] is the reference word of column j; NO_WORD in column 0 and beyond m */
    const uint64_t *places; /* of each word of the batch: where the reference has it if m <= 64, else how often */
    const uint64_t *found;  /* BAND: where the reference has each of its words, from left to right and the other way */
    const uint32_t *row;    /* of each word of the batch: which pair of rows of `found` is its own; row 0 is empty */
    int64_t parts;          /* of a row of `found`: it has so many numbers; 0 where there are none */
    int64_t distance;       /* of the current order */
    uint64_t *equal;        /* of each row: the columns with the row's word */
    uint64_t *plus, *minus; /* of each row and of row 0 */
    uint64_t *diagonal;     /* of each row: where D[i][j] = D[i-1][j-1] */
    /* BAND and WIDE: */
    int64_t beam;
    int32_t *low, *high;    /* first and last column of each row and of row 0 */
    uint64_t *inside;       /* BAND: the columns of each row */
    uint64_t *allowed;      /* BAND: those of them that their diagonal can be reached from */
    int32_t *first;         /* BAND: D[i][low[i]] */
    int32_t *trial;         /* words of a changed order */
    int32_t *cells;         /* WIDE: rows of 2 * beam cells, and two more for trials */
    int64_t cells_room;
} Table;

/* ---- NARROW: bit b is column b + 1 ---- */

/* A path of cost D from (0, 0) to (n, m) through a cell (i, j), with f = i / n, e = m - n and j = i * m / n + t,
 * costs at least |j - i| + |(m - j) - (n - i)| = |f * e + t| + |(1 - f) * e - t|, hence |t| <= (D + |e|) / 2. With
 * D + |e| <= 46 all optimal paths keep within 23 columns of i * m / n; the beam leaves them 24 on its narrower side,
 * one to spare for the rounding of i * m / n. So the beam changes no cell of an optimal path, and can only raise the
 * others, which were too large to be on one: distance and alignment are the same. Later orders of the words have
 * smaller distances; an order that does not gain without the beam does not gain with it. Up to 24 columns lie in the
 * beam in every row. */
static int beam_cannot_matter(int64_t n, int64_t m, int64_t distance) {
    return m < BEAM || distance + larger(n - m, m - n) <= 2 * (BEAM - 2);
}

static inline int64_t narrow_distance(const Table *table, BitRow row) {
    uint64_t all = low_bits(table->m);
    return table->n + ones(row.plus & all) - ones(row.minus & all);
}

static void narrow_rows(Table *table, int64_t from) {
    BitRow row = {table->plus[from], table->minus[from]};
    for (int64_t i = from; i < table->n; i++) {
        table->equal[i] = table->places[table->hypothesis[i]];
        table->diagonal[i] = next_row(&row, table->equal[i]);
        table->plus[i + 1] = row.plus;
        table->minus[i + 1] = row.minus;
    }
    table->distance = narrow_distance(table, row);
}

/* How much the distance falls when words [middle, end) go before words [begin, middle), or anything <= floor where
 * it is no more than floor. */
static inline int64_t narrow_gain(const Table *table, int64_t begin, int64_t middle, int64_t end, int64_t floor) {
    const uint64_t *equal = table->equal, all = low_bits(table->m);
    BitRow row = {table->plus[begin], table->minus[begin]};
    for (int64_t i = middle; i < end; i++) next_row(&row, equal[i]);
    for (int64_t i = begin; i < middle; i++) next_row(&row, equal[i]);
    for (int64_t i = end;; i++) {
        /* The rest of the rows are the same words, so the gain is at most the largest fall of a cell of this row. */
        int64_t fall = ones(table->plus[i] & ~row.plus & all) + ones(row.minus & ~table->minus[i] & all);
        if (fall <= floor) return floor;
        if (i == table->n) break;
        next_row(&row, equal[i]);
    }
    return table->distance - narrow_distance(table, row);
}

/* ---- The beam's shape ---- */

static int beam_is_wide(int64_t n, int64_t m) { return BEAM < (double)m / (double)n / 2; }

/* The products are rounded as sacreBLEU rounds them: its beam depends on it. */
static void place_beam(Table *table) {
    double ratio = (double)table->m / (double)table->n;
    table->beam = BEAM;
    if (beam_is_wide(table->n, table->m)) {
        double width = ratio / 2 + BEAM;
        table->beam = (int64_t)width;
        table->beam += (double)table->beam < width;
    }
    table->low[0] = 0;
    table->high[0] = (int32_t)table->m;
    for (int64_t i = 1; i <= table->n; i++) {
        int64_t centre = (int64_t)((double)i * ratio);
        table->low[i] = (int32_t)larger(0, centre - table->beam);
        table->high[i] = (int32_t)smaller(table->m, centre + table->beam - 1); /* of the last row: m */
    }
}

/* ---- BAND ---- */

/* Numbers that hold 64 columns from each column on. */
static inline int64_t parts_of(int64_t m) { return m / WORD_BITS + 2; }

static inline void set_bit(uint64_t *bits, int64_t at) { bits[at / WORD_BITS] |= (uint64_t)1 << at % WORD_BITS; }

static inline uint64_t bits_from(const uint64_t *bits, int64_t at) {
    bits += at / WORD_BITS;
    at %= WORD_BITS;
    return bits[0] >> at | bits[1] << 1 << (WORD_BITS - 1 - at);
}

static inline const uint64_t *found_row(const Table *table, int32_t word, int backwards) {
    return table->found + (2 * (int64_t)table->row[word] + backwards) * table->parts;
}

/* columns_with where no bits are kept. */
static uint64_t columns_that_equal(const Table *table, int64_t low, int32_t word) {
    const int32_t *column = table->columns + low;
    uint8_t same[WORD_BITS]; /* in two steps, because compilers make vector instructions of the first */
    for (int b = 0; b < WORD_BITS; b++) same[b] = column[b] == word;
    uint64_t found = 0;
    for (int part = 0; part < WORD_BITS; part += 8) {
        uint64_t bytes;
        memcpy(&bytes, same + part, sizeof bytes);
        /* Eight bytes of 0 or 1, the first at the lowest address and bit, become the product's highest byte. */
        found |= (bytes * 0x0102040810204080u >> 56) << part;
    }
    return found;
}

/* Which of the 64 columns from `low` on have this word. */
static inline uint64_t columns_with(const Table *table, int64_t low, int32_t word) {
    uint64_t places = table->places[word];
    if (!places) return 0;
    if (table->m <= WORD_BITS) return low ? places >> (low - 1) : places << 1;
    if (table->parts) return bits_from(found_row(table, word, 0), low);
    return columns_that_equal(table, low, word);
}

static void band_shape(Table *table) {
    place_beam(table);
    for (int64_t i = 1; i <= table->n; i++) {
        int64_t low = table->low[i], last = table->high[i] - low;
        if (i > 1) last = smaller(last, table->high[i - 1] + 1 - low);
        uint64_t stays = low == table->low[i - 1];
        table->inside[i - 1] = low_bits(table->high[i] - low + 1);
        table->allowed[i - 1] = low_bits(last + 1) & ~stays;
    }
    table->plus[0] = ~(uint64_t)0;
    table->minus[0] = 0;
    table->first[0] = 0;
}

/* From row i - 1 to row i. The cells around the beam get values that can neither be better than those inside nor
 * tie with them for an alignment:
 * - A cell right of row i - 1 counts as 1 more than its left neighbour. Its lower neighbour then never comes from
 *   above; the next one could come from it diagonally, which `allowed` and `align` rule out.
 * - The cell left of row i counts as 1 more than the one diagonally above it, so nothing comes from the left.
 *   Where the beam does not move (and in column 0), the first cell has no diagonal neighbour: with one that is not
 *   less than the cell above, and no match, the cell is 1 more than that above. */
static inline uint64_t band_step(const Table *table, int64_t i, uint64_t equal, BitRow *row, int32_t *first) {
    int64_t moved = table->low[i] - table->low[i - 1];
    uint64_t stays = moved == 0;
    if (moved > 1) {
        uint64_t between = low_bits(moved) & ~(uint64_t)1;
        *first += (int32_t)(ones(row->plus & between) - ones(row->minus & between));
    }
    row->plus = row->plus >> moved | ~(~(uint64_t)0 >> moved);
    row->minus >>= moved;
    row->plus &= ~stays;
    uint64_t diagonal = next_row(row, equal & table->allowed[i - 1]);
    *first += 1 - (int32_t)(diagonal & ~stays & 1);
    row->plus |= ~table->inside[i - 1];
    row->minus &= table->inside[i - 1];
    return diagonal;
}

/* Rows behind `from`, where words (from, changed] are new. Returns the first row behind them that differs from that of
 * before by a constant, as all that follow then do, or n. */
static int64_t band_rows(Table *table, int64_t from, int64_t changed) {
    BitRow row = {table->plus[from], table->minus[from]};
    int32_t first = table->first[from];
    for (int64_t i = from + 1; i <= table->n; i++) {
        if (i <= changed) table->equal[i - 1] = columns_with(table, table->low[i], table->hypothesis[i - 1]);
        table->diagonal[i - 1] = band_step(table, i, table->equal[i - 1], &row, &first);
        if (i >= changed && row.plus == table->plus[i] && row.minus == table->minus[i]) {
            int32_t more = first - table->first[i];
            for (int64_t k = i; k <= table->n; k++) table->first[k] += more;
            table->distance += more;
            return i;
        }
        table->plus[i] = row.plus;
        table->minus[i] = row.minus;
        table->first[i] = first;
    }
    uint64_t rest = low_bits(table->m - table->low[table->n] + 1) & ~(uint64_t)1;
    table->distance = first + ones(row.plus & rest) - ones(row.minus & rest);
    return table->n;
}

/* As narrow_gain, but of the distance inside the beam. */
static int64_t band_gain(const Table *table, int64_t begin, int64_t middle, int64_t end, int64_t floor) {
    BitRow row = {table->plus[begin], table->minus[begin]};
    int32_t first = table->first[begin];
    int64_t i = begin;
    for (int64_t from = middle; from < end; from++) {
        i++;
        band_step(table, i, columns_with(table, table->low[i], table->hypothesis[from]), &row, &first);
    }
    for (int64_t from = begin; from < middle; from++) {
        i++;
        band_step(table, i, columns_with(table, table->low[i], table->hypothesis[from]), &row, &first);
    }
    while (i < table->n) {
        /* The same words follow, as in narrow_gain; with equal differences all rows keep their distance. */
        int64_t fall = table->first[i] - first;
        if (row.plus == table->plus[i] && row.minus == table->minus[i]) return fall;
        fall += ones(table->plus[i] & ~row.plus & ~(uint64_t)1) + ones(row.minus & ~table->minus[i] & ~(uint64_t)1);
        if (fall <= floor) return floor;
        i++;
        band_step(table, i, table->equal[i - 1], &row, &first);
    }
    uint64_t rest = low_bits(table->m - table->low[i] + 1) & ~(uint64_t)1;
    return table->distance - (first + ones(row.plus & rest) - ones(row.minus & rest));
}

/* ---- WIDE ---- */

static inline int32_t *wide_row(const Table *table, int64_t i) { return table->cells + i * 2 * table->beam; }

static inline int32_t wide_cell(const Table *table, const int32_t *row, int64_t i, int64_t j) {
    if (i == 0) return (int32_t)j;
    return j < table->low[i] || j > table->high[i] ? BEYOND_BEAM : row[j - table->low[i]];
}

static void wide_step(const Table *table, int64_t i, int32_t word, const int32_t *above, int32_t *row) {
    int64_t low = table->low[i], high = table->high[i];
    int32_t left = BEYOND_BEAM, corner = low ? wide_cell(table, above, i - 1, low - 1) : BEYOND_BEAM;
    for (int64_t j = low; j <= high; j++) {
        int32_t up = wide_cell(table, above, i - 1, j);
        int32_t best = corner + (table->columns[j] != word);
        if (up + 1 < best) best = up + 1;
        if (left + 1 < best) best = left + 1;
        row[j - low] = left = best;
        corner = up;
    }
}

static int wide_shape(Table *table) {
    place_beam(table);
    int64_t need = (table->n + 3) * 2 * table->beam;
    if (need > table->cells_room) {
        free(table->cells);
        table->cells = malloc((size_t)need * sizeof *table->cells);
        table->cells_room = table->cells ? need : 0;
    }
    return table->cells ? 0 : -1;
}

static void wide_rows(Table *table, int64_t from) {
    for (int64_t i = from + 1; i <= table->n; i++)
        wide_step(table, i, table->hypothesis[i - 1], wide_row(table, i - 1), wide_row(table, i));
    table->distance = wide_cell(table, wide_row(table, table->n), table->n, table->m);
}

static int64_t wide_gain(const Table *table, int64_t begin, int64_t middle, int64_t end) {
    const int32_t *above = wide_row(table, begin);
    for (int64_t i = begin + 1; i <= table->n; i++) {
        int64_t from = i - 1;
        if (i <= end) from = from - begin < end - middle ? from + middle - begin : from - (end - middle);
        int32_t *row = wide_row(table, table->n + 1 + (i & 1));
        wide_step(table, i, table->hypothesis[from], above, row);
        above = row;
    }
    return table->distance - wide_cell(table, above, table->n, table->m);
}
