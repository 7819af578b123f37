/* Each hypothesis word with the reference word it stands for: the cheapest complete one-to-one pairing by affix
 * distances, on ties that with the words nearest to their places (Libovicky and Pecina 2014). */
#include <stdlib.h>

#include "affix_distance.h"
#include "assignment.h"
#include "kernel.h"

/*
 * Distances are quotients of small numbers; in parts of SCALE, the least common multiple of 1 to 24, they and their
 * sums are exact for substrings up to 24 letters. POSITIONS is more than all differences of places can add up to.
 */
static const int64_t SCALE = 5354228880, POSITIONS = (int64_t)LARGEST_SIDE * LARGEST_SIDE;
enum { REMEMBERED = 1 << 16, MOST_ROWS = 256 };

typedef struct {
    uint64_t key; /* both words + 1; 0 is free */
    Affix affix;
} Memory;

/* What it costs to pair words of hypotheses with each word of one reference: several systems have the same words. */
typedef struct {
    const int32_t *reference;
    int32_t columns, known;
    int32_t *row_of;             /* of each word: which of the rows, from 1 on; 0 for none */
    int32_t words[MOST_ROWS];    /* of each row */
    int64_t rows[MOST_ROWS * LARGEST_SIDE];
} Costs;

typedef struct {
    const uint32_t *letters;
    const int64_t *starts; /* of each word in `letters` */
    uint64_t *pairs;       /* by word: which pairs of adjacent letters it has, as a set of 64 hash values */
    Memory *memory;        /* the last distances; a newer one takes the place of an older */
    Costs costs;
    AffixTables tables;
    Assignment assignment;
} Aligner;

static void find_pairs(Aligner *aligner, int64_t types) {
    for (int64_t word = 0; word < types; word++) {
        aligner->pairs[word] = 0;
        for (int64_t at = aligner->starts[word]; at + 1 < aligner->starts[word + 1]; at++) {
            uint64_t hash = ((uint64_t)aligner->letters[at] << 32 | aligner->letters[at + 1]) * 0x9E3779B97F4A7C15u;
            aligner->pairs[word] |= (uint64_t)1 << (hash >> 58);
        }
    }
}

static Affix distance(Aligner *aligner, int32_t one, int32_t other) {
    if (one == other) return (Affix){0, 1};
    /* Different words need two letters in common, one after the other, to be alike at all. */
    if (!(aligner->pairs[one] & aligner->pairs[other])) return UNLIKE;
    uint64_t key = (uint64_t)(one + 1) << 32 | (uint64_t)(other + 1);
    Memory *memory = aligner->memory + (key * 0x9E3779B97F4A7C15u >> 48);
    if (memory->key != key) {
        const int64_t *a = aligner->starts + one, *b = aligner->starts + other;
        memory->key = key;
        memory->affix =
            affix_distance(&aligner->tables, aligner->letters + a[0], a[1] - a[0], aligner->letters + b[0],
                           b[1] - b[0]);
    }
    return memory->affix;
}

static int64_t scaled(Affix affix) {
    if (affix.edits == affix.common) return SCALE;
    return affix.edits ? (2 * affix.edits * SCALE + affix.common) / (2 * affix.common) : 0;
}

static void forget_costs(Costs *costs) {
    for (; costs->known; costs->known--) costs->row_of[costs->words[costs->known - 1]] = 0;
}

/* The costs of a word, of the reference that was named last. */
static const int64_t *costs_of(Aligner *aligner, int32_t word) {
    Costs *costs = &aligner->costs;
    if (!costs->row_of[word]) {
        if (costs->known == MOST_ROWS) forget_costs(costs);
        int64_t *row = costs->rows + (int64_t)costs->known * costs->columns;
        for (int32_t j = 0; j < costs->columns; j++)
            row[j] = scaled(distance(aligner, word, costs->reference[j])) * POSITIONS;
        costs->words[costs->known] = word;
        costs->row_of[word] = ++costs->known;
    }
    return costs->rows + (int64_t)(costs->row_of[word] - 1) * costs->columns;
}

static void name_reference(Costs *costs, const int32_t *reference, int32_t columns) {
    if (costs->reference == reference && costs->columns == columns) return;
    forget_costs(costs);
    costs->reference = reference;
    costs->columns = columns;
}

/* At most LARGEST_SIDE words on each side. */
static void align_piece(Aligner *aligner, const int32_t *hypothesis, int32_t rows, const int32_t *reference,
                        int32_t columns, int32_t *matched, double *distances) {
    Assignment *assignment = &aligner->assignment;
    int32_t size = rows > columns ? rows : columns;
    if (!rows || !columns) return;
    name_reference(&aligner->costs, reference, columns);
    memset(assignment->cost, 0, (size_t)size * (size_t)size * sizeof *assignment->cost);
    for (int32_t i = 0; i < rows; i++) {
        int64_t *cost = assignment->cost + (int64_t)i * size;
        const int64_t *known = costs_of(aligner, hypothesis[i]);
        for (int32_t j = 0; j < columns; j++) cost[j] = known[j] + abs(i - j);
    }
    assign(assignment, size, rows);
    for (int32_t i = 0; i < rows; i++) {
        int32_t j = assignment->column_of[i];
        if (j >= columns) continue;
        Affix affix = distance(aligner, hypothesis[i], reference[j]);
        matched[i] = reference[j];
        distances[i] = (double)affix.edits / (double)affix.common;
    }
}

/*
 * letters, letter_starts: code points of each word. matched, distances: (references, words of all hypotheses); the
 * reference word, or -1 for none, and the affix distance to it. Longer segments are aligned in pieces, so that time
 * grows with their length only. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads ids: int32[starts[-1]], starts: int64[(references + systems) * segments + 1],
 * present: uint8[references, segments], letters: uint32[letter_starts[-1]], letter_starts: int64[types + 1]. Writes
 * matched: int32[references, starts[-1] - starts[references * segments]],
 * distances: float64[references, starts[-1] - starts[references * segments]].
 */
KERNEL int64_t steelyard_alignments(const int32_t *ids, const int64_t *starts, const uint8_t *present,
                                    const uint32_t *letters, const int64_t *letter_starts, int64_t types,
                                    int64_t references, int64_t systems, int64_t segments, int32_t *matched,
                                    double *distances) {
    int64_t first = starts[references * segments], words = starts[(references + systems) * segments] - first;
    int64_t result = OUT_OF_MEMORY;
    Aligner *aligner = malloc(sizeof *aligner);
    if (!aligner) return OUT_OF_MEMORY;
    aligner->letters = letters;
    aligner->starts = letter_starts;
    aligner->pairs = malloc(((size_t)types + 1) * sizeof *aligner->pairs);
    aligner->memory = calloc(REMEMBERED, sizeof *aligner->memory);
    aligner->costs.row_of = calloc((size_t)types + 1, sizeof *aligner->costs.row_of);
    aligner->costs.reference = 0;
    aligner->costs.known = aligner->costs.columns = 0;
    if (!aligner->pairs || !aligner->memory || !aligner->costs.row_of) goto done;
    find_pairs(aligner, types);
    for (int64_t at = 0; at < references * words; at++) {
        matched[at] = -1;
        distances[at] = 1;
    }
    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *row = starts + r * segments + i;
            if (!present[r * segments + i]) continue;
            for (int64_t s = 0; s < systems; s++) {
                const int64_t *other = starts + (references + s) * segments + i;
                int64_t m = other[1] - other[0], n = row[1] - row[0], longer = m > n ? m : n;
                int64_t pieces = (longer + LARGEST_SIDE - 1) / LARGEST_SIDE, out = r * words + other[0] - first;
                for (int64_t p = 0; p < pieces; p++) {
                    int64_t here = p * m / pieces, there = p * n / pieces;
                    int64_t rows = (p + 1) * m / pieces - here, columns = (p + 1) * n / pieces - there;
                    align_piece(aligner, ids + other[0] + here, (int32_t)rows, ids + row[0] + there, (int32_t)columns,
                                matched + out + here, distances + out + here);
                }
            }
        }
    }
    result = 0;
done:
    free(aligner->pairs);
    free(aligner->memory);
    free(aligner->costs.row_of);
    free(aligner);
    return result;
}
