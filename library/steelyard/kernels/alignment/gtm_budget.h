/* What GTM counts: runs until the words of the shorter side are used up. */
#ifndef GTM_BUDGET_H
#define GTM_BUDGET_H

#include <stdint.h>

/* A run: its words, where it begins in the hypothesis, and where in the references (see Sides). */
typedef struct {
    int32_t length, here, there;
} Run;

typedef struct {
    int64_t left;         /* words that may still be matched, in parts of a word */
    int64_t parts;        /* parts of a word: as many as there are references, so that averages are whole */
    const double *powers; /* what a run of each length counts */
    double total;
    int64_t rest; /* parts of a word of the run that was too long for what was left; 0 for none */
    Run *taken;   /* where to keep the runs, with room for as many as the hypothesis has words; or 0 */
    int64_t runs; /* how many were taken */
} Budget;

/* Whether nothing is left after this run. */
static inline int take(Budget *budget, int64_t length, int64_t here, int64_t there) {
    int64_t parts = length * budget->parts;
    int cut = parts > budget->left;
    if (cut) length = (budget->left + budget->parts - 1) / budget->parts; /* the last word in part */
    if (budget->taken) budget->taken[budget->runs] = (Run){(int32_t)length, (int32_t)here, (int32_t)there};
    budget->runs++;
    if (cut) {
        budget->rest = budget->left;
        return 1;
    }
    budget->total += budget->powers[length];
    budget->left -= parts;
    return budget->left == 0;
}
#endif
