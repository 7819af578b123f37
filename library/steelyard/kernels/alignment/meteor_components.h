/* Which words one module of Meteor may link: by equal keys, or by a group that two words share. */
#ifndef METEOR_COMPONENTS_H
#define METEOR_COMPONENTS_H

#include "meteor_links.h"

typedef struct {
    int32_t *next[2]; /* by word: the next one of its side with the same key, -1 at the end */
    int32_t *head[2]; /* by key: its first word, -1 for none; between two calls everywhere */
} Chains;

/* Adds a component with no words yet. */
static inline Component *new_component(Pair *pair, int32_t first_hypothesis, int32_t first_reference) {
    Component *c = pair->components + pair->count;
    *c = (Component){{first_hypothesis, first_reference}, {0, 0}, 1, 0, 0};
    return c;
}

/* Keeps the last component for the search, or links its words right away where there is but one way worth it. */
static inline void close_component(Pair *pair, const Component *c) {
    if (c->complete && c->count[0] == c->count[1]) {
        /* Words that may be linked freely never cross in a best linking: exchanging two partners undoes a cross. */
        link_in_order(pair, c);
        return;
    }
    for (int side = 0; side < 2; side++)
        for (int32_t k = 0; k < c->count[side]; k++)
            pair->component[side][pair->members[side][c->first[side] + k]] = pair->count;
    pair->count++;
}

/* Free words with equal keys (below 0: none). `component` must be -1 everywhere, as must the heads. */
static void components_by_key(Pair *pair, const int32_t *const keys[2], Chains *chains) {
    int32_t used[2] = {0, 0};
    for (int side = 1; side >= 0; side--) {
        const int32_t *partner = pair->partner[side], *key = keys[side];
        int32_t *head = chains->head[side], *next = chains->next[side], *across = chains->head[REFERENCE];
        for (int32_t at = pair->length[side] - 1; at >= 0; at--) {
            if (partner[at] >= 0 || key[at] < 0 || (side == HYPOTHESIS && across[key[at]] < 0)) continue;
            next[at] = head[key[at]];
            head[key[at]] = at;
        }
    }
    for (int32_t at = 0; at < pair->length[HYPOTHESIS]; at++) {
        int32_t key = keys[HYPOTHESIS][at];
        if (key < 0 || chains->head[HYPOTHESIS][key] != at) continue;
        Component *c = new_component(pair, used[0], used[1]);
        for (int side = 0; side < 2; side++) {
            for (int32_t word = chains->head[side][key]; word >= 0; word = chains->next[side][word])
                pair->members[side][used[side] + c->count[side]++] = word;
            chains->head[side][key] = -1;
        }
        close_component(pair, c);
        if (c->count[0] != c->count[1]) used[0] += c->count[0], used[1] += c->count[1];
    }
    for (int32_t at = 0; at < pair->length[REFERENCE]; at++)
        if (keys[REFERENCE][at] >= 0) chains->head[REFERENCE][keys[REFERENCE][at]] = -1;
}

typedef struct {
    int32_t *starts;   /* by word of the hypothesis: where its edges begin; one more for the end */
    int32_t *words;    /* the words of the reference that it may be linked with, ascending */
    int64_t room;      /* for so many edges there is memory */
    int32_t *marks;    /* by word of the reference: the last word of the hypothesis that it was seen with */
    int32_t *root;     /* by word of the hypothesis, then of the reference: for finding what hangs together */
    int32_t *entries;  /* by entry of a group's list: word of the reference, next entry */
    int32_t *queue, *from;
} Edges;

typedef struct {
    const int32_t *sets[2];    /* by word: its set of groups */
    const int64_t *set_starts; /* by set: where its groups begin in `groups` */
    const int32_t *groups;
} Groups;

static inline int32_t root_of(int32_t *root, int32_t node) {
    while (root[node] != node) node = root[node] = root[root[node]];
    return node;
}

/* Every two free words that share a group. Returns their number, or -1 without memory. */
static int64_t find_edges(Pair *pair, const Groups *groups, int32_t *head, Edges *edges) {
    int32_t entries = 0;
    int64_t count = 0;
    for (int32_t j = pair->length[REFERENCE] - 1; j >= 0; j--) {
        int32_t set = groups->sets[REFERENCE][j];
        edges->marks[j] = -1;
        int64_t end = groups->set_starts[set + 1];
        for (int64_t g = groups->set_starts[set]; pair->partner[REFERENCE][j] < 0 && g < end; g++) {
            edges->entries[2 * entries] = j;
            edges->entries[2 * entries + 1] = head[groups->groups[g]];
            head[groups->groups[g]] = entries++;
        }
    }
    for (int32_t i = 0; i < pair->length[HYPOTHESIS]; i++) {
        int32_t set = groups->sets[HYPOTHESIS][i], least = INT32_MAX, most = -1;
        edges->starts[i] = (int32_t)count;
        int64_t end = groups->set_starts[set + 1];
        for (int64_t g = groups->set_starts[set]; pair->partner[HYPOTHESIS][i] < 0 && g < end; g++)
            for (int32_t e = head[groups->groups[g]]; e >= 0 && afford(pair, 1); e = edges->entries[2 * e + 1]) {
                int32_t j = edges->entries[2 * e];
                edges->marks[j] = i;
                if (j < least) least = j;
                if (j > most) most = j;
            }
        if (most >= 0 && !afford(pair, most - least)) most = -1;
        for (int32_t j = least; j <= most; j++) {
            if (edges->marks[j] != i) continue;
            if (count == MOST_CANDIDATES && !give_up(pair)) break;
            if (count == edges->room) {
                int32_t *more = realloc(edges->words, (size_t)(2 * count + 1024) * sizeof *more);
                if (!more) return -1;
                edges->words = more;
                edges->room = 2 * count + 1024;
            }
            edges->words[count++] = j;
        }
    }
    edges->starts[pair->length[HYPOTHESIS]] = (int32_t)count;
    for (int32_t j = 0; j < pair->length[REFERENCE]; j++) {
        int32_t set = groups->sets[REFERENCE][j];
        for (int64_t g = groups->set_starts[set]; g < groups->set_starts[set + 1]; g++) head[groups->groups[g]] = -1;
    }
    return count;
}

/* Links as many words of a component as can be: shortest paths of exchanges, one free word after the other. */
static void link_most(Pair *pair, Component *c, const Edges *edges) {
    const int32_t *words = pair->members[HYPOTHESIS] + c->first[HYPOTHESIS];
    int32_t phase = 1; /* what a search in vain has seen cannot help until another one has changed some links */
    for (int32_t k = 0; k < c->count[REFERENCE]; k++)
        edges->marks[pair->members[REFERENCE][c->first[REFERENCE] + k]] = 0;
    c->slack = c->count[HYPOTHESIS];
    for (int32_t k = 0; k < c->count[HYPOTHESIS]; k++) {
        int32_t tail = 0, found = -1;
        edges->queue[tail++] = words[k];
        for (int32_t at = 0; at < tail && found < 0; at++) {
            int32_t i = edges->queue[at];
            if (!afford(pair, edges->starts[i + 1] - edges->starts[i])) return;
            for (int32_t e = edges->starts[i]; e < edges->starts[i + 1] && found < 0; e++) {
                int32_t j = edges->words[e], other = pair->partner[REFERENCE][j];
                if (edges->marks[j] == phase) continue;
                edges->marks[j] = phase;
                edges->from[j] = i;
                if (other < 0)
                    found = j;
                else
                    edges->queue[tail++] = other;
            }
        }
        if (found < 0) continue;
        c->slack--;
        phase++;
        for (int32_t j = found; j >= 0;) {
            int32_t i = edges->from[j], before = pair->partner[HYPOTHESIS][i];
            set_link(pair, HYPOTHESIS, i, j);
            j = before;
        }
    }
}

/* Free words that share groups. Returns the number of edges, or -1 without memory. */
static int64_t components_by_group(Pair *pair, const Groups *groups, int32_t *head, Edges *edges) {
    int32_t m = pair->length[HYPOTHESIS], n = pair->length[REFERENCE], used[2] = {0, 0};
    int64_t count = find_edges(pair, groups, head, edges);
    if (count <= 0) return count;
    for (int32_t node = 0; node < m + n; node++) edges->root[node] = node;
    for (int32_t i = 0; i < m; i++)
        for (int32_t e = edges->starts[i]; e < edges->starts[i + 1]; e++)
            edges->root[root_of(edges->root, m + edges->words[e])] = root_of(edges->root, i);
    for (int32_t i = 0; i < m; i++) {
        if (edges->starts[i] == edges->starts[i + 1] || pair->component[HYPOTHESIS][i] >= 0 ||
            pair->partner[HYPOTHESIS][i] >= 0)
            continue;
        /* Each component is collected where its first word is met; words of one are rarely far apart. */
        Component *c = new_component(pair, used[0], used[1]);
        int64_t inside = 0;
        int32_t root = root_of(edges->root, i);
        if (!afford(pair, m - i + n)) break;
        for (int32_t k = i; k < m; k++) {
            if (root_of(edges->root, k) != root) continue;
            pair->members[HYPOTHESIS][used[0] + c->count[HYPOTHESIS]++] = k;
            inside += edges->starts[k + 1] - edges->starts[k];
        }
        for (int32_t j = 0; j < n; j++)
            if (root_of(edges->root, m + j) == root) pair->members[REFERENCE][used[1] + c->count[REFERENCE]++] = j;
        c->complete = inside == (int64_t)c->count[HYPOTHESIS] * c->count[REFERENCE];
        if (!c->complete) link_most(pair, c, edges);
        close_component(pair, c);
        used[0] += c->count[HYPOTHESIS];
        used[1] += c->count[REFERENCE];
    }
    return count;
}
#endif
