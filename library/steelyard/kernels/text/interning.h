/* Numbers for distinct tokens, in order of first occurrence: a hash table that compares whole tokens. */
#ifndef INTERNING_H
#define INTERNING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "keys of tokens are read as numbers whose first byte is the lowest: this processor has it the other way round"
#endif

/* The first 15 bytes of a token and behind them its length, or 16 for all longer ones: of shorter ones it is the whole. */
typedef struct {
    uint64_t low, high;
} Key;

typedef struct {
    int64_t begin, end;
} Span;

typedef struct {
    const uint8_t *text;
    int64_t bytes;
    uint32_t *slots; /* 0 is free, else type + 1 */
    uint64_t mask;
    Key *keys;   /* of each type */
    Span *spans; /* where each type is first */
    int64_t types;
} Interner;

#define ALL UINT64_MAX
#define FIRST(bytes) (((uint64_t)1 << 8 * (bytes)) - 1)
/* Which bits of its first 16 bytes are those of a token of 0 to 15 bytes, or of a longer one. */
static const Key SHOWN[17] = {
    {0, 0}, {FIRST(1), 0}, {FIRST(2), 0}, {FIRST(3), 0}, {FIRST(4), 0}, {FIRST(5), 0}, {FIRST(6), 0}, {FIRST(7), 0},
    {ALL, 0}, {ALL, FIRST(1)}, {ALL, FIRST(2)}, {ALL, FIRST(3)}, {ALL, FIRST(4)}, {ALL, FIRST(5)}, {ALL, FIRST(6)},
    {ALL, FIRST(7)}, {ALL, FIRST(7)},
};

static inline Key key_of(const Interner *table, Span token) {
    const uint8_t *bytes = table->text + token.begin;
    uint64_t length = (uint64_t)(token.end - token.begin), shown = length < 16 ? length : 16;
    Key key = {0, 0};
    if (table->bytes - token.begin >= 16)
        memcpy(&key, bytes, 16);
    else
        memcpy(&key, bytes, (size_t)(table->bytes - token.begin));
    return (Key){key.low & SHOWN[shown].low, (key.high & SHOWN[shown].high) | shown << 56};
}

static inline int is_long(Key key) { return key.high >> 56 == 16; }

/* Both halves of a product in one: every bit of both factors tells. */
static inline uint64_t mixed(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_rest(const uint8_t *token, int64_t length, uint64_t hash) {
    uint64_t word;
    for (int64_t at = 15; at < length - 8; at += 8) {
        memcpy(&word, token + at, 8);
        hash = mixed(hash ^ word, 0xC4CEB9FE1A85EC53u);
    }
    memcpy(&word, token + length - 8, 8);
    return mixed(hash ^ word, 0xC4CEB9FE1A85EC53u);
}

static inline uint64_t hash_of(const Interner *table, Key key, Span token) {
    uint64_t hash = mixed(key.low ^ 0x9E3779B97F4A7C15u, key.high ^ 0xFF51AFD7ED558CCDu);
    return is_long(key) ? hash_rest(table->text + token.begin, token.end - token.begin, hash) : hash;
}

/* Returns 0, or -1 without memory; interner_free is right either way. */
static inline int interner_allocate(Interner *table, const uint8_t *text, int64_t bytes) {
    uint64_t size = 64;
    while (size < (uint64_t)bytes / 16 && size < 1 << 16) size *= 2;
    *table = (Interner){.text = text, .bytes = bytes, .mask = size - 1};
    table->slots = calloc(size, sizeof *table->slots);
    table->keys = malloc(size / 2 * sizeof *table->keys);
    table->spans = malloc(size / 2 * sizeof *table->spans);
    return table->slots && table->keys && table->spans ? 0 : -1;
}

static inline void interner_free(Interner *table) {
    free(table->slots);
    free(table->keys);
    free(table->spans);
}

static inline int interner_grow(Interner *table) {
    uint64_t size = 2 * (table->mask + 1);
    Key *keys = realloc(table->keys, size / 2 * sizeof *keys);
    if (keys) table->keys = keys;
    Span *spans = realloc(table->spans, size / 2 * sizeof *spans);
    if (spans) table->spans = spans;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!keys || !spans || !slots || table->types > INT32_MAX / 2) {
        free(slots);
        return -1;
    }
    for (int64_t type = 0; type < table->types; type++) {
        uint64_t slot = hash_of(table, keys[type], spans[type]) & (size - 1);
        while (slots[slot]) slot = (slot + 1) & (size - 1);
        slots[slot] = (uint32_t)type + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return 0;
}

static inline int same_rest(const Interner *table, Span one, Span other) {
    int64_t length = one.end - one.begin;
    return other.end - other.begin == length &&
           !memcmp(table->text + one.begin + 15, table->text + other.begin + 15, (size_t)length - 15);
}

/* The number of a token whose key and hash are given, or -1 where no memory is left. */
static inline int64_t intern(Interner *table, Key key, uint64_t hash, Span token) {
    uint64_t slot = hash & table->mask;
    for (uint32_t held; (held = table->slots[slot]); slot = (slot + 1) & table->mask) {
        Key known = table->keys[held - 1];
        if (((known.low ^ key.low) | (known.high ^ key.high)) == 0 &&
            (!is_long(key) || same_rest(table, table->spans[held - 1], token)))
            return (int64_t)held - 1;
    }
    int64_t type = table->types++;
    table->slots[slot] = (uint32_t)type + 1;
    table->keys[type] = key;
    table->spans[type] = token;
    return 2 * (uint64_t)table->types > table->mask && interner_grow(table) ? -1 : type;
}
#endif
