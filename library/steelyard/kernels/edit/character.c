/* CharacTER (Wang et al. 2016): characters to edit after blocks of words have moved, per character. */
#include "character_shifts.h"
#include "kernel.h"
#include "myers.h"

enum { LONGEST_PIECE = 1 << 16 }; /* characters; longer texts are compared in pieces, in time that grows as they do */

typedef struct {
    Spelling spelling;
    Order order;
    Columns columns;
    int32_t *own, *theirs; /* characters */
    int8_t *edges;
} CharacterWork;

/* The words' characters, with one blank between words. Returns how many there are. */
static int64_t join(const Spelling *spelling, const int32_t *words, int64_t count, int32_t *out) {
    int64_t length = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t letters = letters_of(spelling, words[i]);
        if (i) out[length++] = BLANK;
        memcpy(out + length, spelling->letters + spelling->starts[words[i]], (size_t)letters * sizeof *out);
        length += letters;
    }
    return length;
}

static int64_t distance(CharacterWork *work, const int32_t *a, int64_t n, const int32_t *b, int64_t m) {
    while (n && m && *a == *b) a++, b++, n--, m--;
    while (n && m && a[n - 1] == b[m - 1]) n--, m--;
    if (!n || !m) return n + m;
    int64_t found = n;
    memset(work->edges, 1, (size_t)n);
    for (int64_t begin = 0; begin < m; begin += WORD_BITS) {
        int64_t count = smaller(m - begin, WORD_BITS);
        set_columns(&work->columns, b + begin, count);
        BitRow last = pass_rows_between(&work->columns, a, n, work->edges);
        found += across(&last, count);
        clear_columns(&work->columns, b + begin, count);
    }
    return found;
}

/* Mean word lengths of the blocks that stand farther behind in the new order, found from the front as the authors'
 * program does: a block is as long as it goes on in both orders. */
static double shift_cost(const Spelling *spelling, const int32_t *old, const int32_t *new, int64_t n) {
    double cost = 0;
    for (int64_t at = 0; at < n; at++) {
        if (old[at] == new[at]) continue;
        int64_t to = at + 1, length = 1, letters = 0;
        while (to < n && old[at] != new[to]) to++;
        if (to == n) continue;
        while (to + length < n && old[at + length] == new[to + length]) length++;
        for (int64_t i = at; i < at + length; i++) letters += letters_of(spelling, old[i]);
        cost += (double)letters / (double)length;
        at += length - 1;
    }
    return cost;
}

/* Edits of one pair; `m` words of the reference are in work->theirs as `characters`. */
static double edits(CharacterWork *work, const int32_t *words, int64_t n, int64_t m, int64_t characters,
                    int64_t length) {
    Order *order = &work->order;
    double cost = 0;
    if (n <= MOST_WORDS && m && m <= MOST_WORDS) {
        order->n = n;
        memcpy(order->hypothesis, words, (size_t)n * sizeof *words);
        if (find_order(order, &work->spelling)) {
            cost = shift_cost(&work->spelling, words, order->hypothesis, n);
            words = order->hypothesis;
        }
    }
    join(&work->spelling, words, n, work->own);
    int64_t pieces = (larger(length, characters) + LONGEST_PIECE - 1) / LONGEST_PIECE, sum = 0;
    for (int64_t p = 0; p < pieces; p++) {
        int64_t here = p * length / pieces, there = p * characters / pieces;
        sum += distance(work, work->own + here, (p + 1) * length / pieces - here, work->theirs + there,
                        (p + 1) * characters / pieces - there);
    }
    return (double)sum + cost;
}

/*
 * letters: of each word, numbers from 1 to alphabet - 1 in the order of the code points. out: (systems, segments): the
 * least rate over the present references (references, segments), at most 1. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], letters: int32[letter_starts[-1]], letter_starts: int64[types + 1]. Writes
 * out: float64[systems, segments].
 */
KERNEL int64_t steelyard_character_rates(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                         const int32_t *letters, const int64_t *letter_starts, int64_t types,
                                         int64_t alphabet, int64_t references, int64_t systems, int64_t segments,
                                         double *out) {
    int64_t longest = 0, result = OUT_OF_MEMORY;
    CharacterWork *work = calloc(1, sizeof *work);
    if (!work) return OUT_OF_MEMORY;
    work->spelling = (Spelling){letters, letter_starts};
    for (int64_t row = 0; row < (references + systems) * segments; row++)
        longest = larger(longest, characters_of(&work->spelling, ids + starts[row], starts[row + 1] - starts[row]));
    work->order.slot = calloc((size_t)types + 1, sizeof *work->order.slot);
    work->columns.slot = calloc((size_t)alphabet + 1, 1);
    work->own = malloc(((size_t)longest + 1) * sizeof *work->own);
    work->theirs = malloc(((size_t)longest + 1) * sizeof *work->theirs);
    work->edges = malloc((size_t)longest + 1);
    if (!work->order.slot || !work->columns.slot || !work->own || !work->theirs || !work->edges) goto done;

    for (int64_t at = 0; at < systems * segments; at++) out[at] = 1;
    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            const int32_t *reference = ids + row[0];
            int64_t m = row[1] - row[0];
            if (!present[r * segments + i]) continue;
            int64_t characters = join(&work->spelling, reference, m, work->theirs);
            if (m <= MOST_WORDS) enter_reference(&work->order, reference, m);
            for (int64_t s = 0; s < systems; s++) {
                const int64_t *other = starts + (references + s) * segments + i;
                int64_t n = other[1] - other[0], length = characters_of(&work->spelling, ids + other[0], n);
                if (!n) continue;
                double rate = edits(work, ids + other[0], n, m, characters, length) / (double)length;
                if (rate < out[s * segments + i]) out[s * segments + i] = rate;
            }
            if (m <= MOST_WORDS) leave_reference(&work->order);
        }
    }
    result = 0;
done:
    free(work->order.slot);
    free(work->columns.slot);
    free(work->own);
    free(work->theirs);
    free(work->edges);
    free(work);
    return result;
}
