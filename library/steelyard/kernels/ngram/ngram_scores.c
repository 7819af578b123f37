/* The formulas of BLEU and chrF for many rows of sums, as library/steelyard/metrics/ngram/bleu.py and library/steelyard/metrics/ngram/chrf.py define them. Terms are added in
 * the order of the columns.
 */
#include "chrf_score.h"
#include "elementary.h"
#include "kernel.h"

enum { NONE, EXPONENTIAL, FLOOR, ADD_K };

typedef struct {
    int64_t orders;
    const int64_t *lengths; /* the words of an n-gram of each order */
    int64_t smoothing;
    double value;           /* of floor and add-k */
    int64_t effective;      /* leave out the orders that a text is too short for */
} Bleu;

static double brevity_penalty(double hypothesis, double reference) {
    if (hypothesis == 0) return reference > 0 ? 0.0 : 1.0;
    return hypothesis > 0 && hypothesis < reference ? exp_of(1.0 - reference / hypothesis) : 1.0;
}

/* Smoothed precisions in percent; returns how many orders have n-grams. An order without ends the list: longer ones have
 * none either. */
static int64_t precisions_of(const Bleu *bleu, const double *matches, const double *totals, double *precisions) {
    double halvings = 1.0;
    int64_t counted = 0;
    for (int64_t i = 0; i < bleu->orders; i++) {
        double added = bleu->smoothing == ADD_K && bleu->lengths[i] > 1 ? bleu->value : 0.0;
        double match = matches[i] + added, total = totals[i] + added;
        if (counted == i && total > 0) counted++;
        if (counted <= i) {
            precisions[i] = 100.0 * match;
            continue;
        }
        precisions[i] = 100.0 * match / total;
        if (match != 0) continue;
        if (bleu->smoothing == EXPONENTIAL) {
            halvings *= 2.0;
            precisions[i] = 100.0 / (halvings * total);
        } else if (bleu->smoothing == FLOOR) {
            precisions[i] = 100.0 * bleu->value / total;
        }
    }
    return counted;
}

static double bleu_of(const Bleu *bleu, const double *matches, int64_t counted, const double *precisions,
                      double penalty) {
    int any_match = 0, hopeless = 0;
    double sum = 0.0;
    int64_t length = bleu->effective ? counted : bleu->orders;
    for (int64_t i = 0; i < bleu->orders; i++) {
        any_match |= matches[i] > 0;
        if (i < counted && precisions[i] > 0) sum += log_of(precisions[i]);
        else hopeless |= i < length;
    }
    if (hopeless || !any_match) return 0.0;
    return penalty * exp_of(sum / (double)(length > 1 ? length : 1));
}

/* Scores of rows of 2 + 2 x orders sums, and of each row the penalty and the precisions, which are 0 without any match.
 *
 * Reads sums: float64[rows, 2 + 2 * orders], lengths: int64[*]. Writes scores: float64[rows],
 * penalties: float64[rows], precisions: float64[rows, orders]. */
KERNEL int64_t steelyard_bleu_scores(const double *sums, int64_t rows, int64_t orders, const int64_t *lengths,
                                     int64_t smoothing, double value, int64_t effective, double *scores,
                                     double *penalties, double *precisions) {
    Bleu bleu = {orders, lengths, smoothing, value, effective};
    for (int64_t row = 0; row < rows; row++, sums += 2 + 2 * orders, precisions += orders) {
        int64_t counted = precisions_of(&bleu, sums + 2, sums + 2 + orders, precisions);
        penalties[row] = brevity_penalty(sums[0], sums[1]);
        scores[row] = sums[0] == 0 ? 0.0 : bleu_of(&bleu, sums + 2, counted, precisions, penalties[row]);
    }
    return 0;
}

/* Scores of rows of 3 sums for each order: n-grams of the hypothesis, of the reference, and common ones.
 *
 * Reads sums: float64[rows, 3 * orders]. Writes scores: float64[rows]. */
KERNEL int64_t steelyard_chrf_scores(const double *sums, int64_t rows, int64_t orders, double beta_squared,
                                     int64_t effective, double *scores) {
    for (int64_t row = 0; row < rows; row++) scores[row] = chrf_score(sums + 3 * orders * row, orders, beta_squared, effective);
    return 0;
}
