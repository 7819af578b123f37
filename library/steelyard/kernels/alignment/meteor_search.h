/* The best of all linkings that are left: branch and bound over choices that depend on one another.
 *
 * The bound adds to each choice the least that it costs with each later one (Larrosa, Meseguer and Schiex,
 * "Maintaining reversible DAC for Max-CSP", Artificial Intelligence 107, 1999, section 3).
 */
#ifndef METEOR_SEARCH_H
#define METEOR_SEARCH_H

#include "meteor_guess.h"
#include "meteor_options.h"

enum { MOST_OPTIONS = 256, MOST_CHOICES = MOST_OPTIONS / 2 };

typedef struct {
    int64_t both[MOST_OPTIONS][MOST_OPTIONS];
    int64_t costs[MOST_CHOICES][MOST_OPTIONS]; /* by depth: of each option beside what is chosen so far */
    int64_t later[MOST_OPTIONS];               /* the least that an option costs with all later choices */
    int64_t spent[MOST_CHOICES], rest[MOST_CHOICES];
    int32_t at[MOST_CHOICES], order[MOST_CHOICES], group[MOST_CHOICES];
} Search;

/* Moves the options together, so that both tables need only the room of those that are left. */
static void pack_options(Choices *all) {
    int32_t used = 0;
    for (int32_t v = 0; v < all->choice_count; v++) {
        Choice *choice = all->choices + v;
        int32_t shift = choice->first - used;
        for (int32_t o = 0; o < choice->count; o++) all->options[used + o] = all->options[choice->first + o];
        choice->first = used;
        choice->present -= shift;
        choice->best -= shift;
        used += choice->count;
    }
    all->option_count = used;
}

/* What options of two choices cost together. Returns whether that depends on the options. */
static int compare_choices(const Pair *pair, const Choices *all, Search *s, int32_t v, int32_t w) {
    const Choice *one = all->choices + v, *other = all->choices + w;
    int64_t least = IMPOSSIBLE, most = -IMPOSSIBLE;
    for (int32_t o = one->first; o < one->first + one->count; o++) {
        for (int32_t q = other->first; q < other->first + other->count; q++) {
            int64_t cost = both_cost(pair, one, all->options + o, other, all->options + q);
            s->both[o][q] = s->both[q][o] = cost;
            if (cost < least) least = cost;
            if (cost > most) most = cost;
        }
    }
    return least != most || one->component == other->component;
}

/* Choices from `depth` on at that depth: adds up their least costs. */
static int64_t bound(const Choices *all, Search *s, int32_t depth, int32_t count) {
    int64_t total = 0;
    for (int32_t t = depth; t < count && total < IMPOSSIBLE; t++) {
        const Choice *choice = all->choices + s->order[t];
        int64_t least = IMPOSSIBLE;
        for (int32_t o = choice->first; o < choice->first + choice->count; o++) {
            int64_t cost = sum_of(s->costs[depth][o], s->later[o]);
            if (cost < least) least = cost;
        }
        if (t == depth) s->rest[depth] = -least;
        total = sum_of(total, least);
    }
    s->rest[depth] += total;
    return total;
}

/* Whether another word of the component may stay without a link below the depth. */
static int has_slack(const Pair *pair, const Choices *all, const Search *s, int32_t depth) {
    int32_t component = all->choices[s->order[depth]].component, slack = pair->components[component].slack;
    for (int32_t t = 0; t < depth; t++)
        slack -= all->choices[s->order[t]].component == component && all->options[s->at[t] - 1].words[0] < 0;
    return slack > 0;
}

/* The best of the `count` choices in `order`, which depend on no others. */
static void search_group(Pair *pair, Choices *all, Search *s, int32_t count) {
    int64_t best = 0;
    int32_t options = 0;
    for (int32_t t = count - 1; t >= 0; t--) {
        const Choice *choice = all->choices + s->order[t];
        options += choice->count;
        best += all->options[choice->best].cost;
        for (int32_t u = t + 1; u < count; u++) best += s->both[choice->best][all->choices[s->order[u]].best];
        for (int32_t o = choice->first; o < choice->first + choice->count; o++) {
            s->costs[0][o] = all->options[o].cost;
            s->later[o] = 0;
            for (int32_t u = t + 1; u < count; u++) {
                const Choice *other = all->choices + s->order[u];
                int64_t least = IMPOSSIBLE;
                for (int32_t q = other->first; q < other->first + other->count; q++)
                    if (s->both[o][q] < least) least = s->both[o][q];
                s->later[o] = sum_of(s->later[o], least);
            }
        }
    }
    int32_t t = 0;
    s->spent[0] = 0;
    s->at[0] = all->choices[s->order[0]].first;
    if (bound(all, s, 0, count) >= best) return;
    while (t >= 0) {
        const Choice *choice = all->choices + s->order[t];
        if (s->at[t] == choice->first + choice->count) {
            t--;
            continue;
        }
        int32_t o = s->at[t]++;
        int64_t spent = sum_of(s->spent[t], s->costs[t][o]);
        if (sum_of(sum_of(spent, s->later[o]), s->rest[t]) >= best) continue;
        if (all->options[o].words[0] < 0 && !has_slack(pair, all, s, t)) continue;
        if (t == count - 1) {
            best = spent;
            for (int32_t u = 0; u < count; u++) all->choices[s->order[u]].best = s->at[u] - 1;
            continue;
        }
        if (!afford(pair, options)) return;
        for (int32_t u = t + 1; u < count; u++) {
            const Choice *other = all->choices + s->order[u];
            for (int32_t q = other->first; q < other->first + other->count; q++)
                s->costs[t + 1][q] = sum_of(s->costs[t][q], s->both[o][q]);
        }
        if (sum_of(spent, bound(all, s, t + 1, count)) >= best) continue;
        t++;
        s->spent[t] = spent;
        s->at[t] = all->choices[s->order[t]].first;
    }
}

/* Where a choice stands among others, by the first place in the hypothesis that it is about. */
static inline int64_t place(const Choices *all, int32_t v) {
    const int32_t *words = all->options[all->choices[v].first].words;
    return words[0] * ((int64_t)1 << 32) + words[1];
}

/* Gives each choice its option in the best linking, where the steps suffice to find that. */
static void search_all(Pair *pair, Choices *all, Search *s) {
    int32_t count = all->choice_count;
    pack_options(all);
    if (all->option_count > MOST_OPTIONS || !afford(pair, (int64_t)all->option_count * all->option_count)) {
        pair->limited = 1;
        return;
    }
    for (int32_t v = 0; v < count; v++) s->group[v] = v;
    for (int32_t v = 0; v < count; v++)
        for (int32_t w = 0; w < v; w++)
            if (compare_choices(pair, all, s, v, w)) s->group[root_of(s->group, v)] = root_of(s->group, w);
    for (int32_t v = 0; v < count && !pair->limited; v++) {
        if (s->group[v] != v) continue;
        int32_t size = 0;
        for (int32_t w = 0; w < count; w++) {
            if (root_of(s->group, w) != v) continue;
            int32_t at = size++;
            for (; at && place(all, s->order[at - 1]) > place(all, w); at--) s->order[at] = s->order[at - 1];
            s->order[at] = w;
        }
        search_group(pair, all, s, size);
    }
}

typedef struct {
    Choices all;
    Guess guess;
    Search search;
    int32_t *saved;
} Solver;

/* Chooses the links of all open components. Returns 0, or -1 without memory. */
static int solve(Pair *pair, const Edges *edges, Solver *solver) {
    Choices *all = &solver->all;
    if (!pair->count) return 0;
    /* Costs are counted beside settled links only. */
    for (int32_t i = 0; i < pair->length[0]; i++) solver->saved[i] = pair->partner[0][i];
    for (int32_t k = 0; k < pair->count; k++) unlink_component(pair, pair->components + k);
    int listed = list_choices(pair, edges, all);
    for (int32_t i = 0; i < pair->length[0]; i++)
        if (solver->saved[i] >= 0) set_link(pair, HYPOTHESIS, i, solver->saved[i]);
    if (listed < 0 || guess_links(pair, &solver->guess)) return -1;
    if (!listed || !afford(pair, all->option_count + (int64_t)all->choice_count * all->choice_count)) return 0;
    cut_choices(pair, all);
    if (!all->choice_count) return 0;
    search_all(pair, all, &solver->search);
    for (int32_t v = 0; v < all->choice_count; v++) {
        const int32_t *words = all->options[all->choices[v].present].words;
        if (words[0] >= 0) pair->partner[0][words[0]] = pair->partner[1][words[1]] = -1;
    }
    for (int32_t v = 0; v < all->choice_count; v++) {
        const int32_t *words = all->options[all->choices[v].best].words;
        if (words[0] >= 0) set_link(pair, HYPOTHESIS, words[0], words[1]);
    }
    return 0;
}
#endif
