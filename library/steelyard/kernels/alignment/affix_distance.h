/* Affix distance of two words (Libovicky and Pecina 2014): edits before and behind their longest common substring. */
#ifndef AFFIX_DISTANCE_H
#define AFFIX_DISTANCE_H

#include <stdint.h>
#include <string.h>

enum { LETTERS = 255, SIDE = LETTERS + 1 }; /* longer words are only equal or not */

typedef struct {
    uint8_t common[SIDE][SIDE]; /* letters that end in common at a pair of places */
    uint8_t before[SIDE][SIDE]; /* Levenshtein distances of beginnings */
    uint8_t behind[SIDE][SIDE]; /* and of endings, by their lengths */
} AffixTables;

typedef struct {
    int32_t edits, common; /* the distance is their quotient */
} Affix;

static const Affix UNLIKE = {1, 1};

/* Distances of all pairs of beginnings, read forwards (step 1) or backwards (-1) from a and b. */
static inline void edit_table(uint8_t table[SIDE][SIDE], const uint32_t *a, int32_t rows, const uint32_t *b,
                              int32_t columns, int32_t step) {
    for (int32_t j = 0; j <= columns; j++) table[0][j] = (uint8_t)j;
    for (int32_t i = 1; i <= rows; i++) {
        uint32_t letter = a[(i - 1) * step];
        table[i][0] = (uint8_t)i;
        for (int32_t j = 1; j <= columns; j++) {
            int32_t best = table[i - 1][j - 1] + (letter != b[(j - 1) * step]);
            int32_t other = (table[i - 1][j] < table[i][j - 1] ? table[i - 1][j] : table[i][j - 1]) + 1;
            table[i][j] = (uint8_t)(best < other ? best : other);
        }
    }
}

/* Whether a longest substring ends there, and what stands around it has lengths that let the distance be below 1. */
static inline int promising(const AffixTables *t, int32_t m, int32_t n, int32_t i, int32_t j, int32_t longest) {
    if (t->common[i][j] != longest) return 0;
    int32_t before = i > j ? i - j : j - i, behind = m - i > n - j ? m - i - n + j : n - j - m + i;
    return before + behind < longest;
}

/* Two words that are not equal. Of several longest substrings the one with the smallest distance counts. */
static inline Affix affix_distance(AffixTables *t, const uint32_t *a, int64_t a_length, const uint32_t *b,
                                   int64_t b_length) {
    if (a_length > LETTERS || b_length > LETTERS) return UNLIKE;
    int32_t m = (int32_t)a_length, n = (int32_t)b_length, longest = 0, gap = m > n ? m - n : n - m;
    /* The letters that one word has more cost an edit each, so the substring must be longer than those. */
    if (gap >= (m < n ? m : n)) return UNLIKE;
    memset(t->common[0], 0, (size_t)n + 1);
    for (int32_t i = 1; i <= m; i++) {
        const uint8_t *above = t->common[i - 1];
        uint8_t *restrict here = t->common[i], most = 0;
        uint32_t letter = a[i - 1];
        here[0] = 0;
        for (int32_t j = 1; j <= n; j++) {
            here[j] = (uint8_t)((above[j - 1] + 1) & -(letter == b[j - 1]));
            most = here[j] > most ? here[j] : most;
        }
        if (most > longest) longest = most;
    }
    /* At least one edit is needed, so one letter in common is not enough. */
    if (longest < 2 || longest <= gap) return UNLIKE;
    int32_t first_i = m, first_j = n, last_i = 0, last_j = 0; /* the smallest and largest ends worth a look */
    for (int32_t i = longest; i <= m; i++) {
        for (int32_t j = longest; j <= n; j++) {
            if (!promising(t, m, n, i, j, longest)) continue;
            if (i < first_i) first_i = i;
            if (j < first_j) first_j = j;
            if (i > last_i) last_i = i;
            if (j > last_j) last_j = j;
        }
    }
    if (!last_i) return UNLIKE;
    edit_table(t->before, a, last_i - longest, b, last_j - longest, 1);
    edit_table(t->behind, a + m - 1, m - first_i, b + n - 1, n - first_j, -1);
    int32_t fewest = longest;
    for (int32_t i = first_i; i <= last_i; i++) {
        for (int32_t j = first_j; j <= last_j; j++) {
            if (!promising(t, m, n, i, j, longest)) continue;
            int32_t edits = t->before[i - longest][j - longest] + t->behind[m - i][n - j];
            if (edits < fewest) fewest = edits;
        }
    }
    return fewest < longest ? (Affix){fewest, longest} : UNLIKE;
}
#endif
