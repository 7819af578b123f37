/* Logarithms, exponentials and powers, correctly rounded: the nearest double, and so the same on every processor.
 *
 * The methods are Tang's (Table-driven implementation of the exponential function, ACM TOMS 15, 1989, and of the logarithm,
 * TOMS 16, 1990):
 *
 * - ln x = e ln 2 - ln c + ln(1 + r), where x = 2^e z with z in [0.7, 1.42), and c is about 1 / z with 10 bits behind the
 *   point, so that r = z c - 1 is small;
 * - exp x = 2^(n / 128) exp r, where n is the whole number next to 128 x / ln 2;
 * - x^y = exp(y ln x), without rounding ln x to a double between.
 *
 * As Ziv has it (Fast evaluation of elementary mathematical functions with correctly rounded last bit, TOMS 17, 1991), they
 * are first evaluated quickly, as the sum of two doubles with a bound of its error: only + - * of doubles, each rounded by
 * itself (the library is compiled with -ffp-contract=off). Where the bound leaves open which double is the nearest,
 * once in some hundred times, they are evaluated again in whole numbers of 64 and 128 bits, with tables in two steps:
 * ln c - ln d with d = 1 - q / 2^13 and r = z c d - 1 without any rounding, 2^(i / 64) * 2^(j / 4096). Then the errors
 * relative to the result, by adding up what each step drops, are less than 2^-111 of ln, log2 and exp, and 2^-101 of a
 * power. To be wrong even then, a result needs about 50 equal binary digits behind those of a double.
 * Of ln and exp the worst cases are known (Lefevre and Muller, Worst cases for correct rounding of the elementary functions in
 * double precision, ARITH 15, 2001), and tests have them. Powers in the middle of two doubles are recognised.
 */
#ifndef ELEMENTARY_H
#define ELEMENTARY_H

#include "elementary_tables.h"

static const uint128 ONE = (uint128)1 << 127;

static inline uint64_t upper(uint128 value) { return (uint64_t)(value >> 64); }

/* ln(1 + r) / r in units of 2^-127, where |r| is `size` units of 2^-76, less than 2^-13: 1 - r / 2 + r^2 / 3 - ... */
static inline uint128 log_series(int negative, uint64_t size) {
    uint64_t tail = upper(RECIPROCAL[8]);
    for (int k = 7; k > 3; k--) {
        uint64_t step = (uint64_t)((uint128)tail * size >> 76);
        tail = upper(RECIPROCAL[k]) + (negative ? step : -step);
    }
    uint128 sum = (uint128)tail << 64;
    for (int k = 3; k > -2; k--) {
        uint128 step = times_64(sum, size) >> 12;
        sum = (k < 0 ? ONE : RECIPROCAL[k]) + (negative ? step : -step);
    }
    return sum;
}

/* (exp r - 1) / r in units of 2^-127, where r is in units of 2^-76, less than 2^-12: 1 + r / 2! + r^2 / 3! + ... */
static inline uint128 exp_series(uint64_t r) {
    uint64_t tail = upper(FACTORIAL[7]);
    for (int k = 6; k > 2; k--) tail = upper(FACTORIAL[k]) + (uint64_t)((uint128)tail * r >> 76);
    uint128 sum = (uint128)tail << 64;
    for (int k = 2; k > -2; k--) sum = (k < 0 ? ONE : FACTORIAL[k]) + (times_64(sum, r) >> 12);
    return sum;
}

/* ln z of z = mantissa / 2^53 in [0.7, 1.42). */
static inline Number log_near_one(uint64_t mantissa) {
    int64_t j = (int64_t)((mantissa + ((uint64_t)1 << 45)) >> 46);
    int64_t rest = (int64_t)(mantissa * RECIPROCALS[j - 90] - ((uint64_t)1 << 63)); /* z c - 1, in units of 2^-63 */
    int64_t q = (rest + ((int64_t)1 << 49)) >> 50;
    /* z c d - 1 in units of 2^-76: what overflows on the way is gone again at the end. */
    int64_t r = (int64_t)(((uint64_t)rest << 13) - ((uint64_t)q << 63) - (uint64_t)(q * rest));
    int128 known = (int128)(COARSE_LOGS[j - 90] + FINE_LOGS[q + 64]);
    if (!r) return normalised_sum(known, -127);
    int negative = r < 0;
    uint64_t size = negative ? -(uint64_t)r : (uint64_t)r;
    int zeros = __builtin_clzll(size);
    uint128 series = times_64(log_series(negative, size), size << zeros); /* in units of 2^-(139 + zeros) */
    if (!known) return normalised(negative, series, -139 - zeros);
    int128 part = (int128)(series >> (12 + zeros));
    return normalised_sum(negative ? known - part : known + part, -127);
}

/* Of a positive number: its exponent, and the rest as 53 digits of [0.7, 1.42). */
static inline uint64_t take_apart(double positive, int64_t *exponent) {
    Number number = number_of(positive);
    uint64_t mantissa = (uint64_t)(number.digits >> 75);
    int large = mantissa >= (uint64_t)181 << 45; /* 1.4140625 */
    *exponent = number.exponent + 127 + large;
    return large ? mantissa : mantissa << 1;
}

/* exponent * unit + part, where the unit is in units of 2^-116. */
static inline Number with_exponent(int64_t exponent, uint128 unit, Number part) {
    if (!exponent) return part;
    int shift = -116 - part.exponent;
    int128 whole = (int128)unit * exponent, added = shift < 128 ? (int128)(part.digits >> shift) : 0;
    return normalised_sum(part.negative ? whole - added : whole + added, -116);
}

static Number natural_log(double positive) {
    int64_t exponent;
    Number part = log_near_one(take_apart(positive, &exponent));
    return with_exponent(exponent, LN2, part);
}

static Number binary_log(double positive) {
    int64_t exponent;
    Number part = log_near_one(take_apart(positive, &exponent));
    part = normalised(part.negative, times(part.digits, LOG2_E), part.exponent + 1);
    return with_exponent(exponent, (uint128)1 << 116, part);
}

static Number exponential(Number x) {
    if (!x.digits || x.exponent + 127 < -54) return (Number){0, ONE, -127}; /* 1 is the nearest */
    if (x.exponent + 127 >= 10) return (Number){0, ONE, x.negative ? -4096 : 4096};
    int128 value = (int128)(x.digits >> (-117 - x.exponent)); /* in units of 2^-117 */
    if (x.negative) value = -value;
    int64_t n = (int64_t)((value >> 64) * STEPS >> 103);
    int128 rest = value - n * (int128)STEP - (n * (int128)STEP_REST >> 64);
    if (rest < 0) n--, rest += (int128)STEP;
    uint64_t r = (uint64_t)(rest >> 41), below = (uint64_t)rest & (((uint64_t)1 << 41) - 1); /* units of 2^-76, 2^-117 */
    /* exp(r + below) - 1 = exp r - 1 + below * exp r */
    uint128 sum = times_64(exp_series(r), r) >> 12;
    sum += ((uint128)below << 10) + ((uint128)below * upper(sum) >> 53);
    uint128 power = times(COARSE_POWERS[n >> 6 & 63], FINE_POWERS[n & 63]);
    return normalised(0, times(power, ONE + sum), (int)(n >> 12) - 125);
}

static Number power(double base, double exponent) {
    Number log = natural_log(base), by = number_of(exponent);
    uint128 product = times_64(log.digits, upper(by.digits));
    return exponential(normalised(log.negative ^ by.negative, product, log.exponent + by.exponent + 128));
}

/* high + low, wrong by `error` at most. */
typedef struct {
    double high, low, error;
} Sum;

/* Of a positive number that is not subnormal. */
static inline Sum quick_log(double value) {
    const uint64_t least = (uint64_t)0x3FE6A00000000000; /* 0.70703125 */
    uint64_t bits = bits_of_double(value);
    int64_t whole = (int64_t)(bits - least) >> 52;
    uint64_t near_one = bits - ((uint64_t)whole << 52);
    double z = double_of_bits(near_one), exponent = (double)whole;
    const double *row = QUICK_LOGS[(int64_t)(z * 128 + 0.5) - 90];
    /* Products of the upper and lower digits of z with c are exact, and so is the upper one less 1. */
    double upper_digits = double_of_bits(near_one >> 32 << 32);
    double upper_part = upper_digits * row[0] - 1, lower_part = (z - upper_digits) * row[0];
    double r = upper_part + lower_part, r_rest = (upper_part - r) + lower_part;
    double known = exponent * LN2_HIGH + row[1], square = r * r; /* the sum is exact */
    double high = known + r, low = (known - high) + r;
    double even = 1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7)), odd = 1.0 / 4 + square * (1.0 / 6 + square * (1.0 / 8));
    low += (exponent * LN2_LOW + row[2]) + (r_rest - square * (0.5 - r * (even - r * odd)));
    return (Sum){high, low, known == 0 ? square * 0x1p-50 : 0x1p-63};
}

/* Of high + low between -708 and 709. */
static inline Sum quick_exp(double high, double low, double error, int64_t *exponent) {
    const double round = 0x1.8p52;
    double shifted = high * PARTS + round, parts = shifted - round;
    int64_t n = (int64_t)(bits_of_double(shifted) << 12) >> 12;
    const double *row = QUICK_POWERS[n & 127];
    double r = (high - parts * PART_HIGH) + (low - parts * PART_LOW), square = r * r;
    double series = r + square * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720)))));
    *exponent = n >> 7;
    return (Sum){row[0], row[1] + row[0] * series, 0x1.8p-59 + 2.5 * error};
}

static inline int is_sure(Sum sum) { return sum.high + (sum.low - sum.error) == sum.high + (sum.low + sum.error); }

static inline double scaled(Sum sum, int64_t exponent) {
    return double_of_bits(bits_of_double(sum.high + sum.low) + ((uint64_t)exponent << 52));
}

/* The product of two doubles and what its rounding dropped (Dekker 1971): halves of 26 digits have exact products. */
static inline Sum exact_product(double a, double b) {
    double a_up = a * 0x1.0000002p27, b_up = b * 0x1.0000002p27;
    double a_high = a_up - (a_up - a), b_high = b_up - (b_up - b), a_low = a - a_high, b_low = b - b_high;
    double product = a * b;
    return (Sum){product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low, 0};
}

static inline double infinity(void) { return double_of_bits((uint64_t)0x7FF << 52); }
static inline double not_a_number(void) { return double_of_bits((uint64_t)0xFFF << 51); }
static inline double rounded_log(Number found) { return found.digits ? nearest(found, 0) : 0.0; }
static inline int is_usual(double value) { return value >= 0x1p-1022 && value < infinity(); }

/* The logarithm of what is no positive and finite number. */
static inline double odd_log(double value) {
    if (value == 0) return -infinity();
    return value > 0 ? value : not_a_number();
}

static inline double log_of(double value) {
    if (is_usual(value)) {
        Sum found = quick_log(value);
        if (is_sure(found)) return found.high + found.low;
    } else if (!(value > 0) || value == infinity()) {
        return odd_log(value);
    }
    return rounded_log(natural_log(value));
}

static inline double log2_of(double value) {
    if (!(value > 0) || value == infinity()) return odd_log(value);
    return rounded_log(binary_log(value));
}

static inline double exp_of(double value) {
    if (value > -708 && value < 709) {
        int64_t exponent;
        Sum found = quick_exp(value, 0, 0, &exponent);
        if (is_sure(found)) return scaled(found, exponent);
    }
    if (value != value) return not_a_number();
    if (value > 1e3 || value < -1e3) return value > 0 ? infinity() : 0.0;
    return nearest(exponential(number_of(value)), 0);
}

/* Of a base that is 0 or more. */
static inline double power_of(double base, double exponent) {
    if (exponent == 0 || base == 1) return 1.0;
    if (exponent != exponent || !(base >= 0)) return not_a_number();
    if (base == 0 || base == infinity()) return (base > 0) == (exponent > 0) ? infinity() : 0.0;
    if (exponent == infinity() || exponent == -infinity()) return (base > 1) == (exponent > 0) ? infinity() : 0.0;
    double size = exponent < 0 ? -exponent : exponent;
    if (is_usual(base) && size < 1024) {
        Sum log = quick_log(base), product = exact_product(log.high, exponent);
        if (product.high > -708 && product.high < 709) {
            int64_t scale;
            Sum found = quick_exp(product.high, product.low + log.low * exponent, log.error * size, &scale);
            if (is_sure(found)) return scaled(found, scale);
        }
    }
    return nearest(power(base, exponent), (uint64_t)1 << 28);
}

#endif
