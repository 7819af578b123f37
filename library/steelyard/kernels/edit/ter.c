/* Translation edit rate (Snover et al. 2006, section 3) with the limits and the tie rules of sacreBLEU 2.6, which
 * follow tercom: the search for shifts is greedy, so its result depends on both. */
#include "ter_shifts.h"
#include "kernel.h"

enum { LONGEST_TEXT = 1 << 28 }; /* words; a candidate is packed into one number */

typedef struct {
    Table table;
    Alignment alignment;
    Candidates candidates;
    Bounds bounds;
    int32_t *columns; /* the table's, to be written */
    uint64_t *places, *found;
    uint32_t *row;
    int64_t parts, rows; /* of a row of `found`; of the words of this reference that are there */
    uint32_t *taken;
    void *blocks[40];
    int allocated, failed;
} Workspace;

static inline Swap swap_of(Shift shift, int64_t n) {
    int64_t end = shift.start + shift.length;
    if (shift.target < shift.start) return (Swap){shift.target, shift.start, end};
    /* A target within the block means that it passes so many of the words behind it. */
    int64_t passed = shift.target > end ? shift.target - end : smaller(shift.target - shift.start, n - end);
    return (Swap){shift.start, end, end + passed};
}

static inline int64_t gain_of(const Table *table, Method method, Swap swap, int64_t floor) {
    if (method == NARROW) return narrow_gain(table, swap.begin, swap.middle, swap.end, floor);
    if (method == BAND) return band_gain(table, swap.begin, swap.middle, swap.end, floor);
    return wide_gain(table, swap.begin, swap.middle, swap.end);
}

/* Returns as band_rows does. */
static inline int64_t fill_rows(Table *table, Method method, int64_t from, int64_t changed) {
    if (method == BAND) return band_rows(table, from, changed);
    if (method == NARROW) narrow_rows(table, from);
    else wide_rows(table, from);
    return table->n;
}

/* The best shift, and its gain; 0 where none gains. `most` is the largest gain that any shift can have. */
static inline int64_t best_shift(Workspace *space, Method method, int64_t most, Swap *best) {
    Candidates *candidates = &space->candidates;
    const Table *table = &space->table;
    sort_candidates(candidates);
    int64_t gain = 0;
    uint64_t last = ~(uint64_t)0;
    for (int64_t c = 0; c < candidates->count && gain < most; c++) {
        if (candidates->packed[c] == last) continue;
        last = candidates->packed[c];
        Shift shift = unpack(last);
        Swap swap = swap_of(shift, table->n);
        if (method == NARROW) {
            /* Taking l words out and putting them in elsewhere is 2 * l edits, and distances obey the triangle
             * inequality (not so inside a beam). Blocks that follow are no longer than this one. */
            if (2 * shift.length <= gain) break;
            if (2 * (swap.end - swap.begin - shift.length) <= gain) continue;
        }
        if (method == BAND && !can_gain(&space->bounds, table, swap, gain + 1)) continue;
        int64_t gained = gain_of(table, method, swap, gain);
        if (gained > gain) {
            gain = gained;
            *best = swap;
        }
    }
    return gain;
}

/* Shifts and edits of the hypothesis in the table, whose rows are filled; or at least `enough` where it is not less.
 * `bound` is a distance that no order of the words can go below. */
static inline int64_t search(Workspace *space, Method method, int64_t bound, int64_t enough) {
    Table *table = &space->table;
    int64_t shifts = 0, settled = table->n;
    Swap swap = {-1, 0, table->n};
    Alignment *alignment = &space->alignment;
    space->candidates.tried = 0;
    while (table->distance > bound && bound + 1 < enough - shifts) {
        Part seen = align(table, method, swap.begin, settled, alignment);
        if (method != NARROW) {
            find_near(table, larger(0, swap.begin), swap.end, alignment);
            find_begins(table, alignment, mark_errors(alignment, seen));
        }
        propose_all(table, method, alignment, &space->candidates);
        if (space->candidates.tried >= MOST_CANDIDATES) break;
        if (method == BAND) fill_bounds(&space->bounds, table, swap.begin, swap.end);
        if (!best_shift(space, method, table->distance - bound, &swap)) break;
        swap_words(table->hypothesis, swap, table->trial);
        settled = fill_rows(table, method, swap.begin, swap.end);
        shifts++;
    }
    return shifts + table->distance;
}

/* How many words hypothesis and reference share as bags. `taken` has an entry for each word of the batch and is all 0
 * before and after. */
static inline int64_t overlap(const Table *table, uint32_t *taken) {
    int64_t shared = 0;
    if (table->m <= WORD_BITS) {
        uint64_t left = ~(uint64_t)0;
        for (int64_t i = 0; i < table->n; i++) {
            uint64_t open = table->places[table->hypothesis[i]] & left;
            left ^= open & -open;
        }
        return ones(~left);
    }
    for (int64_t i = 0; i < table->n; i++) {
        int32_t word = table->hypothesis[i];
        shared += taken[word]++ < table->places[word];
    }
    for (int64_t i = 0; i < table->n; i++) taken[table->hypothesis[i]] = 0;
    return shared;
}

/* Fills `found`, of a reference that has been entered. */
static void find_words(Workspace *space) {
    int64_t m = space->table.m;
    if (space->table.parts || m > MOST_FOUND) return;
    space->table.parts = space->parts;
    for (int64_t j = 1; j <= m; j++) {
        uint32_t *row = &space->row[space->columns[j]];
        if (!*row) *row = (uint32_t)++space->rows;
        uint64_t *forwards = space->found + 2 * (int64_t)*row * space->parts;
        set_bit(forwards, j);
        set_bit(forwards + space->parts, m + 1 - j);
    }
}

/* Edits of one pair, as `search` returns them; -1 without memory. */
static int64_t edits(Workspace *space, int64_t enough) {
    Table *table = &space->table;
    if (!table->n || !table->m) return larger(table->n, table->m);
    int64_t bound = larger(table->n, table->m) - overlap(table, space->taken);
    if (bound >= enough) return bound;
    if (table->m <= WORD_BITS) {
        table->plus[0] = ~(uint64_t)0;
        table->minus[0] = 0;
        narrow_rows(table, 0);
        if (beam_cannot_matter(table->n, table->m, table->distance)) return search(space, NARROW, bound, enough);
    }
    if (beam_is_wide(table->n, table->m)) {
        if (wide_shape(table)) return -1;
        wide_rows(table, 0);
        return search(space, WIDE, bound, enough);
    }
    find_words(space);
    band_shape(table);
    bounds_shape(&space->bounds, table);
    band_rows(table, 0, table->n + 1);
    return search(space, BAND, bound, enough);
}

/* ---- One call per shard ---- */

static void *room(Workspace *space, int64_t count, size_t size) {
    void *block = calloc((size_t)count, size);
    if (!block) space->failed = 1;
    return space->blocks[space->allocated++] = block;
}

static Workspace *open_workspace(int64_t n, int64_t m, int64_t types) {
    Workspace *space = calloc(1, sizeof *space);
    if (!space) return 0;
    Table *table = &space->table;
    Alignment *alignment = &space->alignment;
    space->columns = room(space, m + 1 + PADDING, sizeof(int32_t));
    space->places = room(space, types, sizeof(uint64_t));
    space->taken = room(space, types, sizeof(uint32_t));
    space->row = room(space, types, sizeof(uint32_t));
    space->parts = parts_of(smaller(m, MOST_FOUND));
    space->found = room(space, 2 * (smaller(m, MOST_FOUND) + 1) * space->parts, sizeof(uint64_t));
    table->columns = space->columns;
    table->found = space->found;
    table->row = space->row;
    table->places = space->places;
    table->hypothesis = room(space, n + 1, sizeof(int32_t));
    table->trial = room(space, n + 1, sizeof(int32_t));
    table->equal = room(space, n + 1, sizeof(uint64_t));
    table->diagonal = room(space, n + 1, sizeof(uint64_t));
    table->plus = room(space, n + 1, sizeof(uint64_t));
    table->minus = room(space, n + 1, sizeof(uint64_t));
    table->inside = room(space, n + 1, sizeof(uint64_t));
    table->allowed = room(space, n + 1, sizeof(uint64_t));
    table->first = room(space, n + 1, sizeof(int32_t));
    table->low = room(space, n + 1, sizeof(int32_t));
    table->high = room(space, n + 1, sizeof(int32_t));
    alignment->targets = room(space, m + 1, sizeof(int32_t));
    alignment->hypothesis_error = room(space, n + 1, 1);
    alignment->reference_error = room(space, m + 1, 1);
    alignment->partner = room(space, n + 1, sizeof(uint64_t));
    alignment->arrival = room(space, n + 1, sizeof(uint64_t));
    alignment->begins = room(space, 2 * (n + 1), sizeof(uint64_t));
    alignment->near = room(space, 2 * (n + 1), sizeof(uint64_t));
    alignment->parts = parts_of(larger(n, m) + FARTHEST_SHIFT) + 1;
    alignment->errors = room(space, LONGEST_SHIFT * alignment->parts, sizeof(uint64_t));
    Bounds *bounds = &space->bounds;
    bounds->step = room(space, n + 1, sizeof(int32_t));
    bounds->top = room(space, n + 1, sizeof(int32_t));
    bounds->plus = room(space, n + 1, sizeof(uint64_t));
    bounds->minus = room(space, n + 1, sizeof(uint64_t));
    bounds->down = room(space, n + 1, sizeof(uint64_t));
    bounds->down_late = room(space, n + 1, sizeof(uint64_t));
    bounds->diagonal = room(space, n + 1, sizeof(uint64_t));
    bounds->diagonal_late = room(space, n + 1, sizeof(uint64_t));
    bounds->on_time = room(space, n + 1, sizeof(uint64_t));
    bounds->late = room(space, n + 1, sizeof(uint64_t));
    bounds->removal = room(space, n + 1, 1);
    return space;
}

static void close_workspace(Workspace *space) {
    for (int b = 0; b < space->allocated; b++) free(space->blocks[b]);
    free(space->table.cells);
    free(space);
}

static void enter_reference(Workspace *space, const int32_t *words, int64_t m) {
    space->table.m = m;
    space->columns[0] = NO_WORD;
    for (int64_t j = 0; j < m; j++) {
        space->columns[j + 1] = words[j];
        space->places[words[j]] += m <= WORD_BITS ? (uint64_t)1 << j : 1;
    }
    for (int b = 0; b < PADDING; b++) space->columns[m + 1 + b] = NO_WORD;
}

static void leave_reference(Workspace *space) {
    for (int64_t j = 1; j <= space->table.m; j++) space->places[space->columns[j]] = 0;
    if (!space->table.parts) return;
    for (int64_t j = 1; j <= space->table.m; j++) space->row[space->columns[j]] = 0;
    memset(space->found + 2 * space->parts, 0, (size_t)(2 * space->rows * space->parts) * sizeof *space->found);
    space->table.parts = space->rows = 0;
}

/*
 * ids, starts: rows of words, references before systems, `segments` rows each; ids are below `types`.
 * present: (references, segments), at least one of each segment. out: (systems, segments), the least edits over the
 * present references. Returns 0, or as kernel.h says.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments]. Writes out: int64[systems, segments].
 */
KERNEL int64_t steelyard_ter_least_edits(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                         int64_t types, int64_t references, int64_t systems, int64_t segments,
                                         int64_t *out) {
    int64_t longest[2] = {0, 0}, rows[2] = {references * segments, systems * segments};
    for (int64_t row = 0; row < rows[0] + rows[1]; row++) {
        int64_t *side = &longest[row >= rows[0]];
        *side = larger(*side, starts[row + 1] - starts[row]);
    }
    if (larger(longest[0], longest[1]) >= LONGEST_TEXT) return TOO_MANY_WORDS;
    Workspace *space = open_workspace(longest[1], longest[0], larger(types, 1));
    if (!space) return OUT_OF_MEMORY;
    Table *table = &space->table;
    for (int64_t i = 0; i < segments && !space->failed; i++) {
        int first = 1;
        for (int64_t r = 0; r < references; r++) {
            const int64_t *reference = starts + r * segments + i;
            if (!present[r * segments + i]) continue;
            enter_reference(space, ids + reference[0], reference[1] - reference[0]);
            for (int64_t s = 0; s < systems && !space->failed; s++) {
                const int64_t *row = starts + (references + s) * segments + i;
                int64_t *least = out + s * segments + i;
                table->n = row[1] - row[0];
                memcpy(table->hypothesis, ids + row[0], (size_t)table->n * sizeof *ids);
                int64_t enough = first ? INT64_MAX : *least;
                int64_t found = edits(space, enough);
                if (found < 0) space->failed = 1;
                if (found < enough) *least = found;
            }
            leave_reference(space);
            first = 0;
        }
    }
    int64_t result = space->failed ? OUT_OF_MEMORY : 0;
    close_workspace(space);
    return result;
}
