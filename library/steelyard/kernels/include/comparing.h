/* Which of two numbers is smaller, larger, or closer to a third. */
#ifndef COMPARING_H
#define COMPARING_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of two lengths the one closer to `own`, the shorter on ties; `other` where there is none yet (-1). */
static inline int64_t closer(int64_t so_far, int64_t other, int64_t own) {
    int64_t gap = llabs(other - own), least = llabs(so_far - own);
    return so_far < 0 || gap < least || (gap == least && other < so_far) ? other : so_far;
}
#endif
