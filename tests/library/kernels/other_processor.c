/* Elementary functions and formulas of doubles from the standard input, as bits to the standard output: the library's own
 * sources, compiled for another processor. */
#include <stdio.h>

#include "elementary.c"
#include "ngram_scores.c"

enum { MOST = 1 << 16 };

static double given[MOST], found[MOST], penalties[MOST], precisions[MOST];

static void write_bits(int64_t count) { fwrite(found, sizeof *found, (size_t)count, stdout); }

int main(void) {
    const int64_t lengths[] = {1, 2, 3, 4};
    int64_t count = (int64_t)fread(given, sizeof *given, MOST, stdin);
    steelyard_log_of_each(given, count, found), write_bits(count);
    steelyard_log2_of_each(given, count, found), write_bits(count);
    steelyard_power_of_each(given, 0.83, count, found), write_bits(count);
    steelyard_power_of_each(given, 3.0, count, found), write_bits(count);
    steelyard_bleu_scores(given, count / 10, 4, lengths, EXPONENTIAL, 0.0, 0, found, penalties, precisions), write_bits(count / 10);
    steelyard_chrf_scores(given, count / 18, 6, 0.49, 1, found), write_bits(count / 18);
    for (int64_t i = 0; i < count; i++) given[i] = -given[i];
    steelyard_exp_of_each(given, count, found), write_bits(count);
    return 0;
}
