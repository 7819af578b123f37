/* The n-grams of one sequence of symbols, and how many of another sequence's are among them, at one step per symbol of
 * the other one whatever the number of orders.
 *
 * An automaton (after Aho and Corasick, "Efficient string matching", CACM 18, 1975) reads the other sequence; after
 * each symbol its state and its depth say which n-gram is the longest one that ends here and that the sequence has.
 * Most n-grams are there just once. Those that end at one position share a state: the position. The others, and all
 * single symbols, have a state each. From a position on, the automaton can but go to the next position, or do what the
 * longest n-gram that ends here and is there more than once would do.
 *
 * States: 0 for nothing; the symbols from 1 on; the positions; the longer n-grams that are there more than once, short
 * ones first. What follows a state and a symbol is a number: the state, and in its lowest bits the depth there at most.
 */
#ifndef NGRAM_AUTOMATON_H
#define NGRAM_AUTOMATON_H

#include <string.h>

#include "scratch.h"

/* LANES: bytes that are counted at once. */
enum { DEPTH_BITS = 3, DEPTH = (1 << DEPTH_BITS) - 1, MOST_STATES = 1 << (16 - DEPTH_BITS), LANES = 16 };

/* Larger tables (in entries of two bytes) cost more to write and to miss than look-ups in a hash table cost. */
#ifndef LARGEST_TABLE
#define LARGEST_TABLE ((size_t)1 << 19)
#endif

typedef struct {
    uint32_t orders, width, stride; /* symbols are 1 .. width - 1; 0 stands for all others */
    uint32_t length;
    uint32_t positions, repeated, states; /* the first of the positions, of the repeated n-grams, and of none */
    uint32_t level[DEPTH + 2];            /* by order: the first repeated n-gram */
    Buffer table;
    Buffer home;    /* of each state: the longest n-gram in it that is there more than once, or a symbol */
    Buffer shorter; /* of a repeated n-gram: that without its first symbol */
    Buffer counted; /* occurrences of each symbol and of each repeated n-gram */
    Buffer once;    /* of each position: the first order whose n-gram that ends there is there just once */
    Buffer active;  /* while building: positions behind a repeated n-gram of the last order */
    Buffer again;   /* while building: positions behind which an n-gram is there for the second time or more often */
    Buffer visits;  /* by the other sequence, of each home */
    Buffer deepest; /* of the visits of each position */
    Buffer trace;   /* of the other sequence: what the table says of each symbol */
} Automaton;

static inline void automaton_free(Automaton *automaton) {
    Buffer *all[] = {&automaton->table, &automaton->home,   &automaton->shorter, &automaton->counted,
                     &automaton->once,  &automaton->active, &automaton->again,   &automaton->visits,
                     &automaton->deepest,  &automaton->trace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->memory);
}

static inline uint16_t transition(uint32_t state, uint32_t depth) { return (uint16_t)(state << DEPTH_BITS | depth); }

static inline uint16_t *transitions_of(const Automaton *automaton, uint32_t state) {
    return (uint16_t *)automaton->table.memory + (size_t)state * automaton->stride;
}

static inline void copy_row(const Automaton *automaton, uint32_t from, uint32_t to) {
    const uint16_t *source = transitions_of(automaton, from);
    uint16_t *target = transitions_of(automaton, to);
    for (uint32_t entry = 0; entry < automaton->stride; entry += 8)
        memcpy(target + entry, source + entry, 8 * sizeof *target);
}

/* A position, and where in the table the n-gram that ends there is noted. */
typedef struct {
    uint32_t entry, at;
} Again;

/* Room for all states that there can be, as long as they can be numbered; `most` is how many that are. */
static inline int automaton_room(Automaton *automaton, size_t *most) {
    const size_t length = automaton->length, several = length / 2 * (automaton->orders - 1);
    *most = automaton->width + length + several;
    if (*most > MOST_STATES) *most = MOST_STATES;
    if (*most > LARGEST_TABLE / automaton->stride) *most = LARGEST_TABLE / automaton->stride;
    return reserve(&automaton->table, *most * automaton->stride * sizeof(uint16_t)) ||
           reserve(&automaton->home, *most * sizeof(uint16_t)) ||
           reserve(&automaton->shorter, *most * sizeof(uint16_t)) ||
           reserve(&automaton->counted, *most * sizeof(uint32_t)) ||
           reserve(&automaton->visits, *most * sizeof(uint32_t)) ||
           reserve(&automaton->deepest, *most + LANES) || reserve(&automaton->once, length + LANES) ||
           reserve(&automaton->active, (length + 1) * sizeof(uint32_t)) ||
           reserve(&automaton->again, (length + 1) * sizeof(Again));
}

static inline void add_symbols(Automaton *automaton, const uint32_t *symbols) {
    uint32_t *const counted = automaton->counted.memory;
    uint16_t *const home = automaton->home.memory, *const root = transitions_of(automaton, 0);
    memset(counted, 0, automaton->width * sizeof *counted);
    for (uint32_t i = 0; i < automaton->length; i++) counted[symbols[i]]++;
    for (uint32_t s = 0; s < automaton->stride; s++) root[s] = 0;
    home[0] = 0;
    for (uint32_t s = 1; s < automaton->width; s++) {
        home[s] = (uint16_t)s;
        if (counted[s]) root[s] = transition(s, 1);
    }
    for (uint32_t s = 1; s < automaton->width; s++)
        if (counted[s]) copy_row(automaton, 0, s);
}

/* Compilers make no branch of it, where a branch could not be guessed. */
static inline uint32_t all_ones_if(int condition) { return -(uint32_t)condition; }

/* The n-grams of one order that end at the `many` active positions. Few are there for the second time or more often, and
 * which cannot be guessed: those are put aside, and no step has a branch. Returns how many are active for the next order, -1 where there may be more states than `most`. */
static inline int64_t add_order(Automaton *automaton, const uint32_t *symbols, uint32_t order, uint32_t many,
                                size_t most) {
    uint16_t *const home = automaton->home.memory, *const longest = home + automaton->positions;
    uint16_t *const shorter = automaton->shorter.memory, *const table = automaton->table.memory;
    uint32_t *const counted = automaton->counted.memory, *const active = automaton->active.memory;
    Again *const again = automaton->again.memory;
    uint8_t *const once = automaton->once.memory;
    const uint32_t first = automaton->states, positions = automaton->positions, repeated = automaton->repeated;
    const uint32_t stride = automaton->stride, last = automaton->length - 1;
    uint32_t repetitions = 0, next = 0, states = first;
    for (uint32_t a = 0; a < many; a++) {
        const uint32_t at = active[a], entry = longest[at - 1] * stride + symbols[at], held = table[entry];
        const uint32_t is_new = all_ones_if((held & DEPTH) < order);
        table[entry] = (uint16_t)((is_new & transition(positions + at, order)) | (~is_new & held));
        again[repetitions].entry = entry;
        again[repetitions].at = at;
        repetitions += is_new + 1;
    }
    if (states + repetitions > most) return -1;
    for (uint32_t r = 0; r < repetitions; r++) {
        const uint32_t entry = again[r].entry, at = again[r].at, held = table[entry] >> DEPTH_BITS;
        const uint32_t second = all_ones_if(held < repeated);
        const uint32_t state = (second & states) | (~second & held);
        const uint32_t seen = (second & (held - positions)) | (~second & at);
        states -= second;
        shorter[state] = longest[at];
        counted[state] = (second & 1) + (~second & counted[state]) + 1;
        home[state] = longest[seen] = longest[at] = (uint16_t)state;
        once[seen] = once[at] = (uint8_t)(order + 1);
        table[entry] = transition(state, order);
        active[next] = at + 1;
        next += at < last;
        active[next] = seen + 1;
        next += second & (seen < last);
    }
    automaton->states = states;
    for (uint32_t state = first; state < states; state++) copy_row(automaton, shorter[state], state);
    return next;
}

static inline void add_positions(Automaton *automaton, const uint32_t *symbols) {
    const uint16_t *const longest = (uint16_t *)automaton->home.memory + automaton->positions;
    const uint32_t length = automaton->length, all = automaton->level[automaton->orders];
    for (uint32_t at = 0; at < length; at++) {
        copy_row(automaton, longest[at], automaton->positions + at);
        if (at + 1 == length) break;
        const uint32_t next = longest[at + 1] >= all ? longest[at + 1] : automaton->positions + at + 1;
        transitions_of(automaton, automaton->positions + at)[symbols[at + 1]] = transition(next, automaton->orders);
    }
}

static inline void clear(Automaton *automaton, const uint32_t *symbols) {
    uint16_t *const longest = (uint16_t *)automaton->home.memory + automaton->positions;
    uint32_t *const active = automaton->active.memory;
    for (uint32_t at = 0; at < automaton->length; at++) {
        longest[at] = (uint16_t)symbols[at];
        active[at] = at + 1;
    }
    memset(automaton->once.memory, 2, automaton->length);
    /* What is counted beyond the last position is not visited deep enough. */
    memset((uint8_t *)automaton->once.memory + automaton->length, DEPTH + 1, LANES);
}

/* Of `length` symbols, all from 1 to width - 1. Returns -1 when out of memory, 1 where it would be too large. */
static inline int automaton_build(Automaton *automaton, const uint32_t *symbols, size_t length, size_t width,
                                  int orders) {
    if (orders > DEPTH || length + width > MOST_STATES) return 1;
    automaton->orders = (uint32_t)orders;
    automaton->width = automaton->positions = (uint32_t)width;
    automaton->stride = ((uint32_t)width + 7) & ~7u;
    automaton->length = (uint32_t)length;
    automaton->repeated = automaton->states = (uint32_t)(width + length);
    size_t most;
    if (automaton_room(automaton, &most)) return -1;
    if (automaton->states > most) return 1;
    add_symbols(automaton, symbols);
    clear(automaton, symbols);
    int64_t active = length ? (int64_t)length - 1 : 0;
    for (uint32_t order = 2; order <= automaton->orders; order++) {
        automaton->level[order] = automaton->states;
        active = add_order(automaton, symbols, order, (uint32_t)active, most);
        if (active < 0) return 1;
    }
    automaton->level[orders + 1] = automaton->states;
    if (orders > 1) add_positions(automaton, symbols);
    memset(automaton->visits.memory, 0, automaton->states * sizeof(uint32_t));
    memset(automaton->deepest.memory, 0, automaton->states + LANES);
    return 0;
}
#endif
