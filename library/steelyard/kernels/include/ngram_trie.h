/* A trie of n-grams in a hash table: a node is an n-gram, its key is exact: (node of the prefix, next word). */
#ifndef NGRAM_TRIE_H
#define NGRAM_TRIE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t *keys;
    int32_t *nodes; /* -1 is free */
    uint64_t mask;
    int32_t used; /* nodes, the root (0) among them */
} Trie;

/* Room for tries of up to `nodes` nodes; returns 0, or -1 without memory. */
static inline int trie_allocate(Trie *trie, size_t nodes) {
    size_t size = 16;
    while (size < 2 * nodes) size *= 2;
    trie->keys = malloc(size * sizeof *trie->keys);
    trie->nodes = malloc(size * sizeof *trie->nodes);
    return trie->keys && trie->nodes ? 0 : -1;
}

static inline void trie_free(Trie *trie) {
    free(trie->keys);
    free(trie->nodes);
}

/* Empties it, for up to `nodes` nodes. */
static inline void trie_clear(Trie *trie, size_t nodes) {
    size_t size = 16;
    while (size < 2 * nodes) size *= 2;
    trie->mask = size - 1;
    trie->used = 1;
    memset(trie->nodes, 0xFF, size * sizeof *trie->nodes);
}

static inline uint64_t trie_slot(const Trie *trie, uint64_t key) {
    uint64_t slot = key * 0x9E3779B97F4A7C15u;
    slot = (slot ^ slot >> 32) & trie->mask;
    while (trie->nodes[slot] >= 0 && trie->keys[slot] != key) slot = (slot + 1) & trie->mask;
    return slot;
}

static inline uint64_t trie_key(int32_t node, int32_t word) { return (uint64_t)(uint32_t)node << 32 | (uint32_t)word; }

/* The node one word on, or -1. */
static inline int32_t trie_child(const Trie *trie, int32_t node, int32_t word) {
    return trie->nodes[trie_slot(trie, trie_key(node, word))];
}

static inline int32_t trie_child_or_new(Trie *trie, int32_t node, int32_t word) {
    uint64_t key = trie_key(node, word), slot = trie_slot(trie, key);
    if (trie->nodes[slot] < 0) {
        trie->keys[slot] = key;
        trie->nodes[slot] = trie->used++;
    }
    return trie->nodes[slot];
}
#endif
