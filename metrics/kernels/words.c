/* From bytes to numbered tokens in one pass: cut, hash, intern. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LETTER, BLANK, ALONE, DIGIT, POINT, DASH, WIDE };

/* A type: its first bytes, and where it begins among the lines. What is compared together lies together. */
typedef struct {
    uint64_t head;
    int64_t start;
} entry;

typedef struct {
    const uint8_t *text, *end;
    uint64_t *slots; /* 0 is free, else the upper half of the hash, then type + 1 */
    uint64_t mask;
    uint64_t *hashes;  /* of each type, for growing */
    uint8_t *lines;    /* the types' bytes, each ended by a newline: close together, they stay in the cache */
    entry *entries;    /* of each type, and behind the last where the next one would begin */
    int64_t types, capacity;
} interner;

/* The first bytes of a token, at most 8, as a number; `end` is that of the text. */
static inline uint64_t head(const uint8_t *token, int64_t length, const uint8_t *end) {
    uint64_t word = 0;
    if (end - token >= 8)
        memcpy(&word, token, 8);
    else
        memcpy(&word, token, (size_t)(end - token));
    return length >= 8 ? word : word & (((uint64_t)1 << 8 * length) - 1);
}

static inline uint64_t hash_token(const uint8_t *token, int64_t length, const uint8_t *end) {
    uint64_t hash = 0x9E3779B97F4A7C15u * (uint64_t)length;
    for (; length > 8; token += 8, length -= 8) {
        hash = (hash ^ head(token, 8, end)) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    hash = (hash ^ head(token, length, end)) * 0xC4CEB9FE1A85EC53u;
    return hash ^ hash >> 32;
}

#define UPPER 0xFFFFFFFF00000000u

static int grow(interner *table) {
    uint64_t size = 2 * (table->mask + 1);
    uint64_t *slots = calloc(size, sizeof *slots);
    if (!slots) return -1;
    for (int64_t type = 0; type < table->types; type++) {
        uint64_t hash = table->hashes[type], slot = hash & (size - 1);
        while (slots[slot]) slot = (slot + 1) & (size - 1);
        slots[slot] = (hash & UPPER) | (uint64_t)(type + 1);
    }
    free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return 0;
}

/* The number of the token text[start, end), or -1 where no memory is left. */
static int64_t intern(interner *table, int64_t start, int64_t end) {
    const uint8_t *token = table->text + start;
    int64_t length = end - start;
    uint64_t hash = hash_token(token, length, table->end), first = head(token, length, table->end);
    uint64_t slot = hash & table->mask;
    for (uint64_t held; (held = table->slots[slot]); slot = (slot + 1) & table->mask) {
        if ((held ^ hash) & UPPER) continue;
        int64_t type = (int64_t)(held & ~UPPER) - 1;
        const entry *known = table->entries + type;
        if (known->head == first && known[1].start - known->start == length + 1 &&
            (length <= 8 || !memcmp(table->lines + known->start + 8, token + 8, (size_t)(length - 8))))
            return type;
    }
    if (table->types == table->capacity) return -1;
    int64_t type = table->types++;
    table->slots[slot] = (hash & UPPER) | (uint64_t)(type + 1);
    table->hashes[type] = hash;
    table->entries[type].head = first;
    uint8_t *line = table->lines + table->entries[type].start;
    memcpy(line, token, (size_t)length);
    line[length] = '\n';
    table->entries[type + 1].start = table->entries[type].start + length + 1;
    if (2 * (uint64_t)table->types > table->mask && grow(table)) return -1;
    return type;
}

/* How many bytes of white space, as Python's str.split() has it, begin at `at`; 0 for none. */
static int64_t wide_blank(const uint8_t *text, int64_t at, int64_t end) {
    const uint8_t *b = text + at;
    if (b[0] == 0xC2) return at + 1 < end && (b[1] == 0x85 || b[1] == 0xA0) ? 2 : 0;
    if (at + 2 >= end) return 0;
    if (b[0] == 0xE1) return b[1] == 0x9A && b[2] == 0x80 ? 3 : 0;
    if (b[0] == 0xE3) return b[1] == 0x80 && b[2] == 0x80 ? 3 : 0;
    if (b[1] == 0x81) return b[2] == 0x9F ? 3 : 0;
    if (b[1] != 0x80) return 0;
    return (b[2] >= 0x80 && b[2] <= 0x8A) || b[2] == 0xA8 || b[2] == 0xA9 || b[2] == 0xAF ? 3 : 0;
}

static void classify(uint8_t class[256], int punctuation) {
    memset(class, LETTER, 256);
    for (int b = 0x09; b <= 0x0D; b++) class[b] = BLANK;
    for (int b = 0x1C; b <= 0x20; b++) class[b] = BLANK;
    class[0xC2] = class[0xE1] = class[0xE2] = class[0xE3] = WIDE;
    if (!punctuation) return;
    for (const char *b = "!\"#$%&()*+/:;<=>?@[\\]^_`{|}~"; *b; b++) class[(uint8_t)*b] = ALONE;
    for (int b = '0'; b <= '9'; b++) class[b] = DIGIT;
    class['.'] = class[','] = POINT;
    class['-'] = DASH;
}

/*
 * Cuts `rows` lines into tokens and numbers them in order of first sight.
 *
 * With `punctuation` by the rules of mteval-v13a, which are three rounds of non-overlapping replacements over
 * pairs of characters; worked out for one pass they say: a '-' stands alone after a digit; a lone '.' or ','
 * stays only between digits; in a run of two or more all stand alone, but the last joins a digit that follows
 * when the pairing leaves it over, which is when the run is odd after a digit and even otherwise.
 *
 * ids: room for `bytes` numbers; starts: rows + 1; lines: room for 2 * `bytes`, gets the distinct tokens in the
 * order of their numbers, each ended by a newline; used: how many bytes those are.
 * Returns the number of types, -1 without memory, -2 where the lines are not `rows`.
 */
int64_t words(const uint8_t *text, int64_t bytes, int64_t rows, int64_t punctuation, int32_t *ids,
              int64_t *starts, uint8_t *lines, int64_t *used) {
    uint8_t class[256];
    classify(class, punctuation != 0);
    interner table = {
        .text = text, .end = text + bytes, .mask = (1 << 14) - 1, .lines = lines,
        .capacity = bytes < INT32_MAX ? bytes : INT32_MAX};
    table.slots = calloc(table.mask + 1, sizeof *table.slots);
    table.hashes = malloc(((size_t)bytes + 1) * sizeof *table.hashes);
    int64_t tokens = 0, row = 0, begin = 0, result = -1;
    table.entries = malloc(((size_t)bytes + 1) * sizeof *table.entries);
    if (!table.slots || !table.hashes || !table.entries) goto done;
    starts[0] = table.entries[0].start = 0;

#define TAKE(from, to)                                        \
    do {                                                      \
        int64_t type_ = intern(&table, (from), (to));         \
        if (type_ < 0) goto done;                             \
        ids[tokens++] = (int32_t)type_;                       \
    } while (0)
#define CUT(at)                                               \
    do {                                                      \
        if (begin < (at)) TAKE(begin, (at));                  \
    } while (0)

    for (int64_t at = 0; at <= bytes;) {
        if (at == bytes || text[at] == '\n') {
            CUT(at);
            if (row == rows) { result = -2; goto done; }
            starts[++row] = tokens;
            begin = ++at;
            continue;
        }
        switch (class[text[at]]) {
        case BLANK:
            CUT(at);
            begin = ++at;
            break;
        case WIDE: {
            int64_t width = wide_blank(text, at, bytes);
            if (width) {
                CUT(at);
                begin = at += width;
            } else {
                at++;
            }
            break;
        }
        case ALONE:
            CUT(at);
            TAKE(at, at + 1);
            begin = ++at;
            break;
        case DASH:
            if (at > begin && class[text[at - 1]] == DIGIT) {
                CUT(at);
                TAKE(at, at + 1);
                begin = at + 1;
            }
            at++;
            break;
        case POINT: {
            int64_t end = at + 1;
            while (end < bytes && class[text[end]] == POINT) end++;
            int after_digit = at > 0 && class[text[at - 1]] == DIGIT;
            int before_digit = end < bytes && class[text[end]] == DIGIT;
            int64_t run = end - at;
            if (run == 1 && after_digit && before_digit) {
                at = end;
                break;
            }
            int joins = before_digit && run > 1 && (run % 2 == 1) == after_digit;
            CUT(at);
            for (; at < end - joins; at++) TAKE(at, at + 1);
            begin = at;
            at = end;
            break;
        }
        default:
            do at++; while (at < bytes && class[text[at]] == LETTER);
        }
    }
    result = row == rows ? table.types : -2;
    *used = table.entries[table.types].start;
done:
    free(table.slots);
    free(table.hashes);
    free(table.entries);
    return result;
#undef TAKE
#undef CUT
}
