/* What the columns of tables of statistics hold, and their digits for sums_of_draws.c.
 *
 * A table has systems, rows of each (segments) and columns; a system's rows follow each other without gaps.
 */
#include <math.h>
#include <stdint.h>

#include "kernel.h"
#include "subset_sums.h"

/* Of each column of one table, system by system: its least and largest value, a sum that is equal for columns that are equal
 * but for a constant, how many values are not integers, and how many not even multiples of 1 / grid.
 *
 * Reads values: address. Writes least: float64[systems * columns], most: float64[systems * columns],
 * sums: float64[systems * columns], fractional: float64[systems * columns], off_grid: float64[systems * columns]. */
KERNEL int64_t steelyard_survey_columns(const double *values, int64_t systems, int64_t stride, int64_t rows,
                                        int64_t columns, double grid, double *restrict least, double *restrict most,
                                        double *restrict sums, double *restrict fractional, double *restrict off_grid) {
    for (int64_t system = 0; system < systems; system++) {
        const double *first = values + system * stride, *row = first;
        for (int64_t c = 0; c < columns; c++) {
            least[c] = most[c] = first[c];
            sums[c] = fractional[c] = off_grid[c] = 0;
        }
        for (int64_t r = 0; r < rows; r++, row += columns) {
            double weight = (double)((uint32_t)r * 0x9E3779B1u >> 12);
            for (int64_t c = 0; c < columns; c++) {
                double value = row[c], scaled = value * grid;
                least[c] = value < least[c] ? value : least[c];
                most[c] = value > most[c] ? value : most[c];
                sums[c] += weight * (value - first[c]);
                fractional[c] += rint(value) != value ? 1.0 : 0.0;
                off_grid[c] += rint(scaled) != scaled ? 1.0 : 0.0;
            }
        }
        least += columns, most += columns, sums += columns, fractional += columns, off_grid += columns;
    }
    return 0;
}

/* Writes of each pair of columns whether they differ by a constant alone. A column is where its first value lies and how
 * far the next one is.
 *
 * Reads ones: int64[*], strides_of_ones: int64[pairs], others: int64[pairs], strides_of_others: int64[pairs]. Writes
 * equal: uint8[pairs]. */
KERNEL int64_t steelyard_compare_columns(int64_t pairs, const double *const *ones, const int64_t *strides_of_ones,
                                         const double *const *others, const int64_t *strides_of_others, int64_t rows,
                                         uint8_t *equal) {
    for (int64_t pair = 0; pair < pairs; pair++) {
        const double *one = ones[pair], *other = others[pair];
        double first = *one, first_of_other = *other;
        int64_t row = 0;
        while (row < rows && *one - first == *other - first_of_other) {
            row++;
            one += strides_of_ones[pair];
            other += strides_of_others[pair];
        }
        equal[pair] = row == rows;
    }
    return 0;
}

/* Writes the digits of columns from their slots on, the lowest digit first, (rows, slots): value x scale - least.
 *
 * Reads firsts: int64[*], strides: int64[count], scales: float64[count], least: int64[count], places: int64[count],
 * digits: int64[count]. Writes written: uint16[*, *]. */
KERNEL int64_t steelyard_write_digits(int64_t count, const double *const *firsts, const int64_t *strides,
                                      const double *scales, const int64_t *least, const int64_t *places,
                                      const int64_t *digits, int64_t rows, int64_t slots, uint16_t *written) {
    const int64_t mask = ((int64_t)1 << DIGIT_BITS) - 1;
    for (int64_t begin = 0; begin < rows; begin += RUN) {
        int64_t end = rows - begin < RUN ? rows : begin + RUN;
        for (int64_t c = 0; c < count; c++) {
            const double *value = firsts[c] + begin * strides[c];
            uint16_t *to = written + begin * slots + places[c];
            for (int64_t row = begin; row < end; row++, value += strides[c], to += slots) {
                int64_t steps = (int64_t)(*value * scales[c]) - least[c];
                for (int64_t digit = 0; digit < digits[c]; digit++, steps >>= DIGIT_BITS) {
                    to[digit] = (uint16_t)(steps & mask);
                }
            }
        }
    }
    return 0;
}
