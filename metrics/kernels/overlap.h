/* The n-grams of one sequence of symbols, counted, and how many of another sequence's are among them.
 *
 * The n-grams form a trie, level by level: a node of level n is an n-gram, its children are the n-grams one
 * symbol longer. A sequence is matched by following its last 1, 2, 3 ... symbols down the levels, one step
 * per level and symbol; one node of each level is "not there" and has no children, so nothing needs to be
 * asked on the way.
 *
 * Children are found in a table (node x symbol) where that is small, as for nearly all sentences, else by
 * binary search in sorted lists, which take memory and time linear in the length whatever the text. Neither
 * hashes.
 */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_ORDER = 64 };

/* Memory that is used again for each segment; what was in it is lost when it grows. */
typedef struct {
    void *memory;
    size_t room;
} Buffer;

static inline int reserve(Buffer *buffer, size_t bytes) {
    if (bytes <= buffer->room) return 0;
    free(buffer->memory);
    buffer->room = 0;
    buffer->memory = bytes <= SIZE_MAX / 2 ? malloc(bytes + bytes / 2) : 0;
    if (!buffer->memory) return -1;
    buffer->room = bytes + bytes / 2;
    return 0;
}

typedef struct {
    int orders;
    int sorted;
    size_t width; /* symbols are 1 .. width - 1; 0 stands for all others */
    size_t length;
    size_t base[LARGEST_ORDER + 2]; /* by order: the number of its node "not there"; its others follow */
    Buffer tables;  /* uint16 child of (node, symbol) */
    Buffer counted; /* occurrences of each node's n-gram */
    Buffer left;    /* in the other sequence: those seen (tables), those that are not matched yet (lists) */
    Buffer symbols; /* lists only: last symbol of each node's n-gram */
    Buffer first;   /* lists only: first child of each node, the next node's being the end */
    Buffer nodes;   /* while building: the node of the n-gram that begins at each position */
    Buffer places;  /* while building, lists only */
} Ngrams;

static inline void ngrams_free(Ngrams *ngrams) {
    Buffer *all[] = {&ngrams->tables, &ngrams->counted, &ngrams->left,  &ngrams->symbols,
                     &ngrams->first,  &ngrams->nodes,   &ngrams->places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->memory);
}

/* Larger tables (in entries of two bytes) cost more to clear and to miss than binary search costs. */
#ifndef LARGEST_TABLES
#define LARGEST_TABLES ((size_t)1 << 20)
#endif

/* Between two clampings a node is seen at most STRIDE times; added to the occurrences that still fits 16
 * bits. */
enum { LARGEST_NODE = UINT16_MAX, LONGEST_FOR_TABLES = INT16_MAX, STRIDE = 1 << 15 };

/* Nodes of one order begin at a multiple of 8, so that they can be summed up in wide registers. */
static inline size_t in_eights(size_t nodes) { return (nodes + 7) & ~(size_t)7; }

/* The most nodes there can be up to an order, those "not there" included. */
static inline size_t most_nodes(size_t length, size_t width, int orders) {
    size_t nodes = in_eights(1), of_order = 1;
    for (int order = 1; order <= orders; order++) {
        if (of_order < length) of_order *= width - 1;
        if (of_order > length) of_order = length;
        nodes += in_eights(of_order + 1);
    }
    return nodes;
}

static inline int fits_tables(size_t length, size_t width, int orders) {
    return length <= LONGEST_FOR_TABLES && width <= LARGEST_TABLES &&
           most_nodes(length, width, orders) <= LARGEST_NODE &&
           most_nodes(length, width, orders - 1) * width <= LARGEST_TABLES;
}

/* Doubling, as copying is the fastest way to write. */
static inline void fill(uint16_t *out, size_t entries, uint16_t value) {
    size_t done = entries < 32 ? entries : 32;
    for (size_t i = 0; i < done; i++) out[i] = value;
    for (; done < entries; done *= 2)
        memcpy(out + done, out, (done < entries - done ? done : entries - done) * sizeof *out);
}

static inline int ngrams_build_tables(Ngrams *ngrams, const uint32_t *symbols) {
    const size_t width = ngrams->width, length = ngrams->length;
    const size_t most = most_nodes(length, width, ngrams->orders);
    const size_t parents_at_most = most_nodes(length, width, ngrams->orders - 1);
    if (reserve(&ngrams->tables, parents_at_most * width * sizeof(uint16_t)) ||
        reserve(&ngrams->counted, most * sizeof(uint16_t)) ||
        reserve(&ngrams->left, most * sizeof(uint16_t)) ||
        reserve(&ngrams->nodes, (length + 1) * sizeof(uint16_t)))
        return -1;
    uint16_t *restrict tables = ngrams->tables.memory, *restrict counted = ngrams->counted.memory;
    uint16_t *restrict nodes = ngrams->nodes.memory;
    memset(nodes, 0, length * sizeof *nodes);
    memset(counted, 0, most * sizeof *counted);
    memset(ngrams->left.memory, 0, most * sizeof(uint16_t));
    size_t parents = 1;
    ngrams->base[0] = 0;
    for (int order = 1; order <= ngrams->orders; order++) {
        const size_t first = ngrams->base[order - 1], none = first + in_eights(parents);
        const size_t positions = length >= (size_t)order ? length - (size_t)order + 1 : 0;
        fill(tables + first * width, parents * width, (uint16_t)none);
        uint32_t last = (uint32_t)none;
        for (size_t i = 0; i < positions; i++) {
            uint16_t *child = &tables[nodes[i] * width + symbols[i + (size_t)order - 1]];
            /* Whether it is new cannot be guessed, so no branch: the mask is all ones for "not there". */
            const uint32_t known = *child, is_new = -(uint32_t)(known == none);
            last -= is_new;
            const uint16_t node = (uint16_t)((known & ~is_new) | (last & is_new));
            *child = node;
            nodes[i] = node;
            counted[node]++;
        }
        ngrams->base[order] = none;
        parents = last - none + 1;
    }
    ngrams->base[ngrams->orders + 1] = ngrams->base[ngrams->orders] + in_eights(parents);
    return 0;
}

/* The same with lists of children. Positions in the order of their symbols, put into one bucket per node,
 * are in the order of (node, symbol): each run of equal ones is a child. */
static inline int ngrams_build_lists(Ngrams *ngrams, const uint32_t *symbols) {
    const size_t width = ngrams->width, length = ngrams->length, orders = (size_t)ngrams->orders;
    const size_t most = orders * (length + 2) * sizeof(uint32_t);
    const size_t larger = (width > length + 1 ? width : length + 1) + 1;
    if (reserve(&ngrams->counted, most) || reserve(&ngrams->left, most) ||
        reserve(&ngrams->symbols, most) || reserve(&ngrams->first, most) ||
        reserve(&ngrams->nodes, (length + 1) * sizeof(uint32_t)) ||
        reserve(&ngrams->places, (2 * length + larger) * sizeof(uint32_t)))
        return -1;
    uint32_t *const nodes = ngrams->nodes.memory, *const by_symbol = ngrams->places.memory;
    uint32_t *const bucketed = by_symbol + length, *const ends = bucketed + length;
    uint32_t roots[2], *first = roots;
    memset(nodes, 0, length * sizeof *nodes);
    memset(ends, 0, (width + 1) * sizeof *ends);
    for (size_t i = 0; i < length; i++) ends[symbols[i] + 1]++;
    for (size_t s = 0; s < width; s++) ends[s + 1] += ends[s];
    for (size_t i = 0; i < length; i++) by_symbol[ends[symbols[i]]++] = (uint32_t)i;
    size_t total = 0, parents = 0;
    for (size_t order = 1; order <= orders; order++) {
        uint32_t *counted = (uint32_t *)ngrams->counted.memory + total;
        uint32_t *names = (uint32_t *)ngrams->symbols.memory + total;
        const size_t positions = length >= order ? length - order + 1 : 0, shift = order - 1;
        memset(ends, 0, (parents + 2) * sizeof *ends);
        for (size_t i = 0; i < positions; i++) ends[nodes[i] + 1]++;
        for (size_t node = 0; node <= parents; node++) ends[node + 1] += ends[node];
        for (size_t i = 0; i < length; i++)
            if (by_symbol[i] >= shift) {
                const uint32_t start = by_symbol[i] - (uint32_t)shift;
                bucketed[ends[nodes[start]]++] = start;
            }
        uint32_t last = 0, family = 0;
        counted[0] = 0;
        first[0] = 1;
        for (size_t i = 0; i < positions; i++) {
            const uint32_t start = bucketed[i], parent = nodes[start], symbol = symbols[start + shift];
            if (i == 0 || parent != family || symbol != names[last]) {
                names[++last] = symbol;
                counted[last] = 0;
                while (family < parent) first[++family] = last;
            }
            counted[last]++;
            nodes[start] = last;
        }
        while (family <= parents) first[++family] = last + 1;
        ngrams->base[order] = total;
        total += last + 2;
        first = (uint32_t *)ngrams->first.memory + ngrams->base[order];
        parents = last;
    }
    ngrams->base[orders + 1] = total;
    return 0;
}

/* Counts the n-grams of `length` symbols, all from 1 to width - 1. Returns -1 when out of memory. */
static inline int ngrams_build(Ngrams *ngrams, const uint32_t *symbols, size_t length, size_t width,
                               int orders) {
    if (length > INT32_MAX) return -1;
    ngrams->orders = orders;
    ngrams->width = width;
    ngrams->length = length;
    ngrams->sorted = !fits_tables(length, width, orders);
    return ngrams->sorted ? ngrams_build_lists(ngrams, symbols) : ngrams_build_tables(ngrams, symbols);
}

/* Counts in `seen` how often each node is come to. */
static inline void follow_tables(const Ngrams *ngrams, const uint32_t *symbols, size_t length, size_t *node,
                                 const int orders) {
    const size_t width = ngrams->width;
    const uint16_t *const tables = ngrams->tables.memory;
    uint16_t *const seen = ngrams->left.memory;
    for (size_t i = 0; i < length; i++) {
        const uint16_t *const child = tables + symbols[i];
#pragma GCC unroll 8
        for (int order = orders; order >= 1; order--) {
            node[order] = child[node[order - 1] * width];
            seen[node[order]]++;
        }
    }
}

static inline void follow_6(const Ngrams *ngrams, const uint32_t *symbols, size_t length, size_t *node) {
    size_t held[7];
    memcpy(held, node, sizeof held);
    follow_tables(ngrams, symbols, length, held, 6);
    memcpy(node, held, sizeof held);
}

static inline void follow_2(const Ngrams *ngrams, const uint32_t *symbols, size_t length, size_t *node) {
    size_t held[3];
    memcpy(held, node, sizeof held);
    follow_tables(ngrams, symbols, length, held, 2);
    memcpy(node, held, sizeof held);
}

static inline void overlap_tables(Ngrams *ngrams, const uint32_t *symbols, size_t length, uint64_t *matches) {
    const int orders = ngrams->orders;
    const uint16_t *restrict counted = ngrams->counted.memory;
    uint16_t *restrict seen = ngrams->left.memory;
    size_t node[LARGEST_ORDER + 1];
    for (int order = 0; order <= orders; order++) node[order] = ngrams->base[order];
    for (; length > STRIDE; length -= STRIDE, symbols += STRIDE) {
        follow_tables(ngrams, symbols, STRIDE, node, orders);
        for (size_t i = 0; i < ngrams->base[orders + 1]; i++)
            seen[i] = seen[i] < counted[i] ? seen[i] : counted[i];
    }
    if (orders == 6) follow_6(ngrams, symbols, length, node);
    else if (orders == 2) follow_2(ngrams, symbols, length, node);
    else follow_tables(ngrams, symbols, length, node, orders);
    for (int order = 1; order <= orders; order++) {
        uint32_t found = 0;
        for (size_t i = ngrams->base[order]; i < ngrams->base[order + 1]; i++) {
            found += seen[i] < counted[i] ? seen[i] : counted[i];
            seen[i] = 0;
        }
        matches[order - 1] = found;
    }
}

static inline uint32_t child_in_list(const uint32_t *names, uint32_t low, uint32_t high, uint32_t symbol) {
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (names[middle] < symbol) low = middle + 1;
        else high = middle;
    }
    return low < end && names[low] == symbol ? low : 0;
}

static inline void overlap_lists(Ngrams *ngrams, const uint32_t *symbols, size_t length, uint64_t *matches) {
    const int orders = ngrams->orders;
    const uint32_t *const names = ngrams->symbols.memory, *const first = ngrams->first.memory;
    uint32_t *const left = ngrams->left.memory;
    uint32_t node[LARGEST_ORDER + 1] = {0};
    memcpy(left, ngrams->counted.memory, ngrams->base[orders + 1] * sizeof *left);
    memset(matches, 0, (size_t)orders * sizeof *matches);
    for (size_t i = 0; i < length; i++) {
        for (int order = orders; order >= 1; order--) {
            const size_t here = ngrams->base[order];
            uint32_t low = 1, high = (uint32_t)(ngrams->base[order + 1] - here - 1);
            if (order > 1) {
                const uint32_t *range = first + ngrams->base[order - 1] + node[order - 1];
                low = range[0], high = range[1];
            }
            const uint32_t child = low < high ? child_in_list(names + here, low, high, symbols[i]) : 0;
            const uint32_t match = left[here + child] != 0;
            left[here + child] -= match;
            matches[order - 1] += match;
            node[order] = child;
        }
    }
}

/* matches[n - 1] = how many n-grams of order n the two sequences share, each as often as both have it. */
static inline void ngrams_overlap(Ngrams *ngrams, const uint32_t *symbols, size_t length, uint64_t *matches) {
    if (ngrams->sorted) overlap_lists(ngrams, symbols, length, matches);
    else overlap_tables(ngrams, symbols, length, matches);
}
#endif
