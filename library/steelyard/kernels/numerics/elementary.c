/* Elementary functions of many numbers: elementary.h has them. */
#include "elementary.h"
#include "kernel.h"

/* Reads values: float64[*]. Writes found: float64[count]. */
KERNEL int64_t steelyard_log_of_each(const double *values, int64_t count, double *found) {
    for (int64_t i = 0; i < count; i++) found[i] = log_of(values[i]);
    return 0;
}

/* Reads values: float64[*]. Writes found: float64[count]. */
KERNEL int64_t steelyard_log2_of_each(const double *values, int64_t count, double *found) {
    for (int64_t i = 0; i < count; i++) found[i] = log2_of(values[i]);
    return 0;
}

/* Reads values: float64[*]. Writes found: float64[count]. */
KERNEL int64_t steelyard_exp_of_each(const double *values, int64_t count, double *found) {
    for (int64_t i = 0; i < count; i++) found[i] = exp_of(values[i]);
    return 0;
}

/* Reads values: float64[*]. Writes found: float64[count]. */
KERNEL int64_t steelyard_power_of_each(const double *values, double exponent, int64_t count, double *found) {
    for (int64_t i = 0; i < count; i++) found[i] = power_of(values[i], exponent);
    return 0;
}
