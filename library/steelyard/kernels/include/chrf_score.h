/* The formula of chrF, each operation in the order of the definition: which of two references is better may hang on the
 * last bit. */
#ifndef CHRF_SCORE_H
#define CHRF_SCORE_H

#include <stdint.h>

/* Precision and recall side by side, because a division of two pairs takes no longer than of one. */
typedef double Shares __attribute__((vector_size(2 * sizeof(double))));

static inline double f_score(double precision, double recall, double beta_squared) {
    return (1.0 + beta_squared) * precision * recall / (beta_squared * precision + recall);
}

/* The F-score of precision and recall, each averaged over the orders that both sides have. */
static inline double of_average_shares(const double *sums, int64_t orders, double beta_squared) {
    Shares shares = {0.0, 0.0};
    double counted = 0.0;
    for (int64_t i = 0; i < orders; i++, sums += 3) {
        if (!(sums[0] > 0 && sums[1] > 0)) continue;
        const Shares match = {sums[2], sums[2]}, all = {sums[0], sums[1]};
        shares += match / all;
        counted += 1.0;
    }
    const double most = counted > 1.0 ? counted : 1.0;
    const Shares means = shares / (Shares){most, most};
    return means[0] + means[1] > 0 ? f_score(means[0], means[1], beta_squared) : 0.0;
}

/* The average of the F-scores of all orders, where a tiny number stands for what a side is too short for: as in
 * chrF++.py. */
static inline double average_f_score(const double *sums, int64_t orders, double beta_squared) {
    const double tiny = 1e-16;
    double total = 0.0;
    for (int64_t i = 0; i < orders; i++, sums += 3) {
        const double precision = sums[0] > 0 ? sums[2] / sums[0] : tiny;
        const double recall = sums[1] > 0 ? sums[2] / sums[1] : tiny;
        const int any = beta_squared * precision + recall > 0;
        total += any ? f_score(precision, recall, beta_squared) : tiny;
    }
    return total;
}

/* The score for sums of n-grams of the hypothesis, of the reference, and common ones, order by order; `effective` is
 * whether orders count only where both sides have them. */
static inline double chrf_score(const double *sums, int64_t orders, double beta_squared, int64_t effective) {
    if (effective) return 100.0 * of_average_shares(sums, orders, beta_squared);
    return 100.0 * average_f_score(sums, orders, beta_squared) / (double)orders;
}
#endif
