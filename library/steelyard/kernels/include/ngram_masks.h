/*
 * The n-grams of a segment's references as bit masks: bit k is the k-th word of them all, a free bit before each text.
 *
 * Where an n-gram of a hypothesis ends in the references is where its last word is, one bit behind an end of its first
 * n - 1 words: a shift and an "and" lead from word to word, for each order. Each n-gram of a hypothesis takes one of
 * these places as long as one is left, which clips it: no other n-gram of this order ends there.
 */
#ifndef NGRAM_MASKS_H
#define NGRAM_MASKS_H

#include "ngram_rows.h"
#include <string.h>

enum { MOST_PARTS = 4, MOST_PLACES = 64 * MOST_PARTS, MOST_ORDERS = 16 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct {
    int parts;   /* of 64 bits in a mask: 1, 2 or 4 */
    int deepest; /* orders */
    int places, texts, distinct;
    uint16_t *number;                               /* of each type: which word of the segment it is, from 1 on, or 0 */
    int32_t types[MOST_PLACES + 1];                 /* of each of these words */
    uint64_t ends[(MOST_PLACES + 1) * MOST_PARTS];  /* of each of these words a mask: where it is; nowhere for 0 */
    uint16_t words[MOST_PLACES];                    /* of each place, 0 for a free bit */
    uint64_t text[(MOST_PLACES + 1) * MOST_PARTS];  /* of each text a mask: all its places */
    uint64_t open[MOST_ORDERS * MOST_PARTS];        /* of each order a mask: what each hypothesis may take */
} Masks;

/* For types below `types` and orders up to `deepest`. Returns 0 without memory. */
static inline Masks *masks_made(int64_t types, int64_t deepest) {
    Masks *masks = malloc(sizeof *masks);
    uint16_t *number = calloc((size_t)types + 1, sizeof *number);
    if (!masks || !number) {
        free(masks);
        free(number);
        return 0;
    }
    masks->deepest = (int)deepest;
    masks->distinct = 0;
    masks->number = number;
    return masks;
}

static inline void masks_free(Masks *masks) {
    if (masks) free(masks->number);
    free(masks);
}

static inline int has(const uint64_t *mask, int place) { return mask[place / 64] >> place % 64 & 1; }
static inline void set(uint64_t *mask, int place) { mask[place / 64] |= (uint64_t)1 << place % 64; }

/* The lowest bit of a part, as a mask. */
ALWAYS_INLINE uint64_t lowest_bit(uint64_t part) { return part & (0 - part); }

/* One word on: `ending` has for each order where the last n-gram of a text ends in the references. */
ALWAYS_INLINE void masks_step(uint64_t *ending, const uint64_t *word, int parts, int deepest) {
    for (int n = deepest - 1; n > 0; n--) {
        const uint64_t *shorter = ending + (n - 1) * parts;
        for (int k = 0; k < parts; k++)
            ending[n * parts + k] = (shorter[k] << 1 | (k ? shorter[k - 1] >> 63 : 0)) & word[k];
    }
    for (int k = 0; k < parts; k++) ending[k] = word[k];
}

/* Takes the first place that is left for an n-gram with these ends; which one, or 64 * parts where there is none. */
ALWAYS_INLINE int masks_take(const uint64_t *ending, uint64_t *left, int parts) {
    for (int k = 0;; k++) {
        uint64_t found = lowest_bit(ending[k] & left[k]);
        left[k] ^= found;
        /* Below a single bit are as many ones as its position; 64 of them if there is none. */
        if (found || k == parts - 1) return 64 * k + __builtin_popcountll(found - 1);
    }
}

static inline int is_first(const uint64_t *mask, int place) {
    for (int k = 0; k < place / 64; k++)
        if (mask[k]) return 0;
    return lowest_bit(mask[place / 64]) >> place % 64 & 1;
}

/* Opens the places of an n-gram in the text that has it most often. */
static inline void masks_open(Masks *m, const uint64_t *ending, uint64_t *open) {
    int most = 0, best = 0;
    for (int text = 0; text < m->texts; text++) {
        int count = 0;
        for (int k = 0; k < m->parts; k++) count += __builtin_popcountll(ending[k] & m->text[text * m->parts + k]);
        if (count > most) most = count, best = text;
    }
    for (int k = 0; k < m->parts; k++) open[k] |= ending[k] & m->text[best * m->parts + k];
}

/* Opens for each order what every hypothesis may take: all places of a single text. */
static inline void masks_clip(Masks *m) {
    uint64_t ending[MOST_ORDERS * MOST_PARTS] = {0};
    memset(m->open, m->texts > 1 ? 0 : 0xFF, sizeof m->open);
    for (int place = 0; m->texts > 1 && place < m->places; place++) {
        masks_step(ending, m->ends + m->words[place] * m->parts, m->parts, m->deepest);
        for (int n = 0; n < m->deepest; n++) {
            const uint64_t *ends = ending + n * m->parts;
            if (has(ends, place) && is_first(ends, place)) masks_open(m, ends, m->open + n * m->parts);
        }
    }
}

static inline void masks_add_word(Masks *m, int32_t type) {
    int word = m->number[type], place = m->places++;
    if (!word) {
        word = m->number[type] = (uint16_t)++m->distinct;
        m->types[word] = type;
        memset(m->ends + word * m->parts, 0, (size_t)m->parts * sizeof *m->ends);
    }
    m->words[place] = (uint16_t)word;
    set(m->ends + word * m->parts, place);
    set(m->text + m->texts * m->parts, place);
}

/* Reads the references of a segment. Returns 0, or -1 where they are too long for masks. */
static inline int masks_read(Masks *m, const Rows *rows, int64_t segment) {
    int64_t bits = words_of_references(rows, segment) + rows->references - 1;
    if (bits > MOST_PLACES || m->deepest > MOST_ORDERS) return -1;
    for (; m->distinct; m->distinct--) m->number[m->types[m->distinct]] = 0;
    m->parts = bits <= 64 ? 1 : bits <= 128 ? 2 : 4;
    m->places = m->texts = 0;
    memset(m->ends, 0, (size_t)m->parts * sizeof *m->ends);
    for (int64_t r = 0; r < rows->references; r++) {
        if (!is_present(rows, r, segment)) continue;
        Row row = row_of(rows, r, segment);
        memset(m->text + m->texts * m->parts, 0, (size_t)m->parts * sizeof *m->text);
        if (m->texts) m->words[m->places++] = 0;
        for (int64_t at = 0; at < row.length; at++) masks_add_word(m, row.words[at]);
        m->texts++;
    }
    masks_clip(m);
    return 0;
}
#endif
