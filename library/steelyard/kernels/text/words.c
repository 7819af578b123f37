/* From bytes to numbered tokens in one pass: cut, hash, intern. */
#include "interning.h"
#include "kernel.h"
#include "token_cuts.h"

/* Blocks of text whose tokens are looked up together, so that their hashes are there when the lookups wait. */
static const uint64_t LAST = (uint64_t)1 << 63;

enum { BLOCKS = 16, MOST = 64 * BLOCKS };

typedef struct {
    int64_t begins[MOST + 8], ends[MOST + 8]; /* a token that is still open has a begin, but no end */
    int64_t begun, ended;
} Tokens;

static inline int64_t *positions(uint64_t mask, int64_t base, int64_t *out) {
    int64_t *end = out + __builtin_popcountll(mask);
    /* Four at a time, the last ones for nothing: it is seldom foreseen how many there are. */
    for (; out < end; out += 4) {
        for (int k = 0; k < 4; k++) {
            out[k] = base + __builtin_ctzll(mask | LAST);
            mask &= mask - 1;
        }
    }
    return end;
}

/* Adds the tokens of a block. */
static inline void take(Tokens *tokens, const Cuts *cuts, int64_t base) {
    tokens->begun = positions(cuts->begins, base, tokens->begins + tokens->begun) - tokens->begins;
    tokens->ended = positions(cuts->ends, base, tokens->ends + tokens->ended) - tokens->ends;
}

/* Numbers the tokens that have ended and forgets them. Returns 0, or OUT_OF_MEMORY. */
static int number(Interner *table, Tokens *tokens, int32_t *ids) {
    Key keys[MOST + 1];
    uint64_t hashes[MOST + 1];
    int64_t count = tokens->ended;
    for (int64_t k = 0; k < count; k++) {
        Span token = {tokens->begins[k], tokens->ends[k]};
        keys[k] = key_of(table, token);
        hashes[k] = hash_of(table, keys[k], token);
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t type = intern(table, keys[k], hashes[k], (Span){tokens->begins[k], tokens->ends[k]});
        if (type < 0) return -1;
        ids[k] = (int32_t)type;
    }
    tokens->begins[0] = tokens->begins[count];
    tokens->begun -= count;
    tokens->ended = 0;
    return 0;
}

/*
 * Cuts `rows` lines into tokens and numbers them in order of first occurrence.
 *
 * With `mteval_13a` by the rules of mteval-v13a, else at white space alone. ids: room for `size` numbers; starts:
 * rows + 1; lines: room for 2 * `size`, gets the distinct tokens in the order of their numbers, each ended by a
 * newline; used: how many bytes those are.
 * Returns the number of types, OUT_OF_MEMORY, or BAD_TEXT where the lines are not `rows`.
 *
 * Reads text: uint8[size]. Writes ids: int32[size + 1], starts: int64[rows + 1], lines: uint8[2 * size + 1],
 * used: int64[1].
 */
KERNEL int64_t steelyard_words(const uint8_t *text, int64_t size, int64_t rows, int64_t mteval_13a, int32_t *ids,
                               int64_t *starts, uint8_t *lines, int64_t *used) {
    Interner table;
    Cutter cut = cutter(text, size, mteval_13a != 0);
    Tokens tokens = {.begun = 0, .ended = 0};
    int64_t row = 0, numbered = 0, result = OUT_OF_MEMORY;
    starts[0] = 0;
    if (interner_allocate(&table, text, size)) goto done;
    for (int64_t base = 0; base <= size; base += 64) {
        Cuts cuts = cuts_of(&cut, base);
        for (uint64_t left = cuts.newlines; left; left &= left - 1) {
            if (++row >= rows) { result = BAD_TEXT; goto done; }
            starts[row] = numbered + tokens.begun + __builtin_popcountll(cuts.begins & ((left & -left) - 1));
        }
        take(&tokens, &cuts, base);
        if (base / 64 % BLOCKS == BLOCKS - 1 || size - base < 64) {
            int64_t ended = tokens.ended;
            if (number(&table, &tokens, ids + numbered)) goto done;
            numbered += ended;
        }
    }
    if (row + 1 != rows) { result = BAD_TEXT; goto done; }
    starts[rows] = numbered;
    *used = 0;
    for (int64_t type = 0; type < table.types; type++) {
        int64_t length = table.spans[type].end - table.spans[type].begin;
        memcpy(lines + *used, text + table.spans[type].begin, (size_t)length);
        lines[*used + length] = '\n';
        *used += length + 1;
    }
    result = table.types;
done:
    interner_free(&table);
    return result;
}
