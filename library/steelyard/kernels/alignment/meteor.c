/* Links between the words of each hypothesis and each reference, module by module (Kos 2008, section 2.4.1). */
#include "kernel.h"
#include "meteor_search.h"

typedef struct {
    Pair pair;
    Chains chains;
    Edges edges;
    Solver solver;
} Meteor;

static int32_t *numbers(int64_t count, int32_t value) {
    int32_t *result = malloc((size_t)(count + 1) * sizeof *result);
    for (int64_t k = 0; result && k < count; k++) result[k] = value;
    return result;
}

static void dispose(Meteor *m) {
    for (int side = 0; side < 2; side++) {
        free(m->pair.partner[side]);
        free(m->pair.component[side]);
        free(m->pair.members[side]);
        free(m->chains.next[side]);
        free(m->chains.head[side]);
    }
    free(m->pair.components);
    int32_t *others[] = {m->edges.starts, m->edges.words, m->edges.marks,        m->edges.root,       m->edges.entries,
                         m->edges.queue,  m->edges.from,  m->solver.guess.from, m->solver.saved};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) free(others[k]);
    free(m->solver.guess.costs);
    free(m->solver.all.options);
    free(m->solver.all.choices);
    free(m->solver.all.costs);
    free(m);
}

/* For segments of up to `longest` words, keys and groups below `keys`, lists of `entries` groups per segment. */
static Meteor *prepare(int64_t longest, int64_t keys, int64_t entries) {
    Meteor *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    int there = 1;
    for (int side = 0; side < 2; side++) {
        there &= (m->pair.partner[side] = numbers(longest, -1)) != NULL;
        there &= (m->pair.component[side] = numbers(longest, -1)) != NULL;
        there &= (m->pair.members[side] = numbers(longest, -1)) != NULL;
        there &= (m->chains.next[side] = numbers(longest, -1)) != NULL;
        there &= (m->chains.head[side] = numbers(keys, -1)) != NULL;
    }
    there &= (m->pair.components = malloc((size_t)(longest + 1) * sizeof *m->pair.components)) != NULL;
    there &= (m->solver.all.choices = malloc((size_t)(longest + 1) * sizeof *m->solver.all.choices)) != NULL;
    there &= (m->solver.all.costs = malloc((size_t)(longest + 1) * sizeof *m->solver.all.costs)) != NULL;
    there &= (m->edges.starts = numbers(longest + 1, 0)) != NULL;
    there &= (m->edges.marks = numbers(longest, -1)) != NULL;
    there &= (m->edges.root = numbers(2 * longest, 0)) != NULL;
    there &= (m->edges.entries = numbers(2 * entries, 0)) != NULL;
    there &= (m->edges.queue = numbers(longest, 0)) != NULL;
    there &= (m->edges.from = numbers(longest, 0)) != NULL;
    there &= (m->solver.saved = numbers(longest, 0)) != NULL;
    if (there) return m;
    dispose(m);
    return NULL;
}

/* Runs of links between words that follow one another on both sides. */
static int64_t count_chunks(const Pair *pair) {
    const int32_t *partner = pair->partner[HYPOTHESIS];
    int64_t chunks = 0;
    for (int32_t i = 0; i < pair->length[HYPOTHESIS]; i++)
        chunks += partner[i] >= 0 && !(i && partner[i] && partner[i - 1] == partner[i] - 1);
    return chunks;
}

/* One module: returns how many links it adds, or -1 without memory. */
static int64_t run_module(Meteor *m, const int32_t *const keys[2], const Groups *groups) {
    Pair *pair = &m->pair;
    int64_t before = 0, after = 0;
    for (int32_t i = 0; i < pair->length[0]; i++) before += pair->partner[0][i] >= 0;
    pair->count = 0;
    if (groups) {
        if (components_by_group(pair, groups, m->chains.head[0], &m->edges) < 0) return -1;
    } else {
        components_by_key(pair, keys, &m->chains);
    }
    if (solve(pair, &m->edges, &m->solver)) return -1;
    for (int32_t k = 0; k < pair->count; k++)
        for (int side = 0; side < 2; side++)
            for (int32_t w = 0; w < pair->components[k].count[side]; w++)
                pair->component[side][pair->members[side][pair->components[k].first[side] + w]] = -1;
    for (int32_t i = 0; i < pair->length[0]; i++) after += pair->partner[0][i] >= 0;
    return after - before;
}

/*
 * keys: (modules, words), equal ones may be linked, those below 0 never; in the module `grouped` (-1: none) they are
 * sets of groups, set k being groups[set_starts[k]] to groups[set_starts[k + 1] - 1], and sets with a common group
 * may be linked. All keys and groups are below `limit`. entries: groups of all words of a reference at most. steps:
 * of the search in each module of each pair of segments.
 *
 * out: (references, systems, segments, modules + 2): links of each module, chunks, whether the steps were too few;
 * untouched where the reference is not present. links: (references, words of all hypotheses): by word the place of
 * the linked word in its segment, -1 for none. Returns 0, or OUT_OF_MEMORY.
 *
 * Reads starts: int64[(references + systems) * segments + 1], present: uint8[references, segments],
 * keys: int32[modules, starts[-1]], set_starts: int64[*], groups: int32[set_starts[-1]]. Writes
 * out: int64[references, systems, segments, modules + 2],
 * links: int32[references, starts[-1] - starts[references * segments]].
 */
KERNEL int64_t steelyard_meteor(const int64_t *starts, const uint8_t *present, const int32_t *keys, int64_t modules,
                                int64_t grouped, const int64_t *set_starts, const int32_t *groups, int64_t limit,
                                int64_t entries, int64_t references, int64_t systems, int64_t segments, int64_t steps,
                                int64_t *out, int32_t *links) {
    int64_t rows = (references + systems) * segments, words = starts[rows], longest = 0, result = OUT_OF_MEMORY;
    int64_t first = starts[references * segments];
    for (int64_t row = 0; row < rows; row++)
        if (starts[row + 1] - starts[row] > longest) longest = starts[row + 1] - starts[row];
    Meteor *m = prepare(longest, limit, entries);
    if (!m) return OUT_OF_MEMORY;
    for (int64_t at = 0; at < references * (words - first); at++) links[at] = -1;
    for (int64_t i = 0; i < segments; i++) {
        for (int64_t r = 0; r < references; r++) {
            const int64_t *reference = starts + r * segments + i;
            for (int64_t s = 0; s < systems && present[r * segments + i]; s++) {
                const int64_t *hypothesis = starts + (references + s) * segments + i;
                int64_t *counts = out + ((r * systems + s) * segments + i) * (modules + 2);
                m->pair.length[HYPOTHESIS] = (int32_t)(hypothesis[1] - hypothesis[0]);
                m->pair.length[REFERENCE] = (int32_t)(reference[1] - reference[0]);
                m->pair.limited = 0;
                for (int32_t k = 0; k < m->pair.length[HYPOTHESIS]; k++) m->pair.partner[HYPOTHESIS][k] = -1;
                for (int32_t k = 0; k < m->pair.length[REFERENCE]; k++) m->pair.partner[REFERENCE][k] = -1;
                for (int64_t module = 0; module < modules; module++) {
                    const int32_t *own = keys + module * words;
                    const int32_t *const sides[2] = {own + hypothesis[0], own + reference[0]};
                    const Groups sets = {{sides[0], sides[1]}, set_starts, groups};
                    m->pair.steps = steps;
                    counts[module] = run_module(m, sides, module == grouped ? &sets : NULL);
                    if (counts[module] < 0) goto done;
                }
                counts[modules] = count_chunks(&m->pair);
                counts[modules + 1] = m->pair.limited;
                memcpy(links + r * (words - first) + hypothesis[0] - first, m->pair.partner[HYPOTHESIS],
                       (size_t)m->pair.length[HYPOTHESIS] * sizeof *links);
            }
        }
    }
    result = 0;
done:
    dispose(m);
    return result;
}
