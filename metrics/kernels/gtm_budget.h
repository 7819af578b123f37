/* What GTM counts: runs until the words of the shorter side are used up. */
#ifndef GTM_BUDGET_H
#define GTM_BUDGET_H

#include <stdint.h>

typedef struct {
    int64_t left;         /* words that may still be matched, in parts of a word */
    int64_t parts;        /* parts of a word: as many as there are references, so that averages are whole */
    const double *powers; /* what a run of each length counts */
    double total;
    int64_t rest; /* parts of a word of the run that was too long for what was left; 0 for none */
} Budget;

/* Whether nothing is left after this run. */
static inline int take(Budget *budget, int64_t length) {
    int64_t parts = length * budget->parts;
    if (parts > budget->left) {
        budget->rest = budget->left;
        return 1;
    }
    budget->total += budget->powers[length];
    budget->left -= parts;
    return budget->left == 0;
}
#endif
