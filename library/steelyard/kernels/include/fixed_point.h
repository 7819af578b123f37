/* Numbers of 128 bits, and how they become doubles. */
#ifndef FIXED_POINT_H
#define FIXED_POINT_H

#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

#define FIXED(high, low) ((uint128)(high) << 64 | (low))

typedef struct {
    int negative;
    uint128 digits; /* 0, or with the highest bit set */
    int exponent;   /* the value is digits * 2^exponent */
} Number;

/* a * b / 2^64, rounded down. */
static inline uint128 times_64(uint128 a, uint64_t b) {
    return (a >> 64) * b + ((uint128)(uint64_t)a * b >> 64);
}

/* a * b / 2^128, at most 3 too small. */
static inline uint128 times(uint128 a, uint128 b) {
    uint64_t a_high = (uint64_t)(a >> 64), b_high = (uint64_t)(b >> 64);
    return (uint128)a_high * b_high + ((uint128)a_high * (uint64_t)b >> 64) + ((uint128)(uint64_t)a * b_high >> 64);
}

static inline Number normalised(int negative, uint128 digits, int exponent) {
    uint64_t high = (uint64_t)(digits >> 64);
    if (!digits) return (Number){0, 0, exponent};
    int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)digits);
    return (Number){negative, digits << zeros, exponent - zeros};
}

static inline Number normalised_sum(int128 sum, int exponent) {
    return normalised(sum < 0, (uint128)(sum < 0 ? -sum : sum), exponent);
}

static inline uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A finite double, subnormal ones included. */
static inline Number number_of(double value) {
    uint64_t bits = bits_of_double(value), fraction = bits << 12 >> 12;
    int exponent = (int)(bits >> 52 & 0x7FF);
    if (!exponent) return normalised(bits >> 63, (uint128)fraction << 64, -1074 - 64);
    return (Number){bits >> 63, (uint128)(fraction << 11 | (uint64_t)1 << 63) << 64, exponent - 1023 - 127};
}

/* The double that is nearest to a number that is not 0; in the middle of two the even one. What lies `slack` or less beside
 * a middle, in units of the last digit, counts as the middle. */
static inline double nearest(Number number, uint64_t slack) {
    const double infinity = double_of_bits((uint64_t)0x7FF << 52);
    int exponent = number.exponent + 127, dropped = exponent < -1022 ? 75 - 1022 - exponent : 75;
    if (exponent > 1023) return number.negative ? -infinity : infinity;
    if (dropped > 127) return double_of_bits(dropped == 128 && number.digits > (uint128)1 << 127);
    uint64_t kept = (uint64_t)(number.digits >> dropped);
    uint128 half = (uint128)1 << (dropped - 1), rest = number.digits & (2 * half - 1);
    uint128 away = rest > half ? rest - half : half - rest;
    kept += away <= slack ? kept & 1 : rest > half;
    /* The highest of 53 bits adds one to the exponent, as does a carry. */
    uint64_t bits = kept + (dropped == 75 ? (uint64_t)(exponent + 1022) << 52 : 0);
    return double_of_bits(bits | (uint64_t)number.negative << 63);
}

#endif
