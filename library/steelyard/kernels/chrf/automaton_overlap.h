/* Reads a sequence with an automaton, and counts the n-grams that it shares with the automaton's. */
#ifndef AUTOMATON_OVERLAP_H
#define AUTOMATON_OVERLAP_H

#include "ngram_automaton.h"

enum { PARTS = 4 };

typedef int8_t Lanes __attribute__((vector_size(LANES)));

/* What the table says of each symbol, into `trace`. A step waits for the one before; so long sequences are read in four
 * parts at once. The state is known after as many symbols as there are orders, so that the later parts begin so many
 * symbols early, at what the part before them writes once more. */
static inline void follow(const Automaton *automaton, const uint32_t *symbols, size_t length, uint16_t *trace) {
    const uint16_t *const table = automaton->table.memory;
    const size_t stride = automaton->stride, part = length / PARTS, early = automaton->orders;
    size_t state = 0, at = 0;
    if (part > 2 * early) {
        size_t states[PARTS] = {0};
        const uint32_t *from[PARTS] = {symbols, symbols + part - early, symbols + 2 * part - early,
                                       symbols + 3 * part - early};
        uint16_t *to[PARTS] = {trace, trace + part - early, trace + 2 * part - early, trace + 3 * part - early};
        for (; at < part + early; at++)
            for (int p = 0; p < PARTS; p++) {
                to[p][at] = table[states[p] * stride + from[p][at]];
                states[p] = to[p][at] >> DEPTH_BITS;
            }
        state = states[PARTS - 1];
        at = PARTS * part;
    }
    for (; at < length; at++) {
        trace[at] = table[state * stride + symbols[at]];
        state = trace[at] >> DEPTH_BITS;
    }
}

static inline void visit(Automaton *automaton, const uint16_t *trace, size_t length) {
    const uint16_t *const home = automaton->home.memory;
    uint32_t *const visits = automaton->visits.memory;
    uint8_t *const deepest = automaton->deepest.memory;
    uint32_t depth = 0;
    for (size_t i = 0; i < length; i++) {
        const uint32_t state = trace[i] >> DEPTH_BITS, at_most = trace[i] & DEPTH;
        depth = depth + 1 < at_most ? depth + 1 : at_most;
        visits[home[state]]++;
        deepest[state] = (uint8_t)(deepest[state] > depth ? deepest[state] : depth);
    }
}

/* Adds the n-grams that are there just once: of each position those from its first order to the deepest visit, which is
 * forgotten. */
static inline void match_positions(Automaton *automaton, uint32_t *matches) {
    uint8_t *deepest = (uint8_t *)automaton->deepest.memory + automaton->positions;
    const uint8_t *once = automaton->once.memory;
    const uint32_t orders = automaton->orders, length = automaton->length;
    for (uint32_t begin = 0; begin < length;) {
        Lanes found[DEPTH + 1] = {{0}};
        const uint32_t most = begin + INT8_MAX * LANES, end = most < length ? most : length;
        for (; begin < end; begin += LANES) {
            Lanes deep, first;
            memcpy(&deep, deepest + begin, LANES);
            memcpy(&first, once + begin, LANES);
            memset(deepest + begin, 0, LANES);
            for (uint32_t order = 2; order <= orders; order++) {
                const Lanes all = (Lanes){0} + (int8_t)order;
                found[order] -= (Lanes)((deep >= all) & (first <= all));
            }
        }
        for (uint32_t order = 2; order <= orders; order++)
            for (int lane = 0; lane < LANES; lane++) matches[order - 1] += (uint32_t)found[order][lane];
    }
}

/* matches[n - 1] = how many n-grams of order n the two sequences share, each as often as both have it. Returns -1 when
 * out of memory. */
static inline int automaton_overlap(Automaton *automaton, const uint32_t *symbols, size_t length, uint32_t *matches) {
    uint32_t *const visits = automaton->visits.memory;
    const uint32_t *const counted = automaton->counted.memory;
    const uint16_t *const shorter = automaton->shorter.memory;
    if (reserve(&automaton->trace, length * sizeof(uint16_t))) return -1;
    follow(automaton, symbols, length, automaton->trace.memory);
    visit(automaton, automaton->trace.memory, length);
    for (uint32_t order = automaton->orders; order >= 2; order--) {
        uint32_t found = 0;
        for (uint32_t state = automaton->level[order]; state < automaton->level[order + 1]; state++) {
            found += visits[state] < counted[state] ? visits[state] : counted[state];
            visits[shorter[state]] += visits[state];
            visits[state] = 0;
        }
        matches[order - 1] = found;
    }
    uint32_t found = 0;
    for (uint32_t s = 1; s < automaton->width; s++) {
        found += visits[s] < counted[s] ? visits[s] : counted[s];
        visits[s] = 0;
    }
    matches[0] = found;
    if (automaton->orders > 1) match_positions(automaton, matches);
    return 0;
}
#endif
