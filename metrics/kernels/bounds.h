/* The smaller and the larger of two numbers. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
#endif
