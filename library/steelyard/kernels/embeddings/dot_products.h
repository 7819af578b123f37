/* Dot products that come out the same to the bit on every machine, however the work is cut. */
#ifndef DOT_PRODUCTS_H
#define DOT_PRODUCTS_H

#include <stdint.h>

/*
 * Numbers that were float have exact products in double. Four lanes add every fourth of them each, in order, and are
 * added up in one order at the end: so there is nothing that a compiler, a wider processor or a block size could
 * change. Rows are padded with zeros to a multiple of LANES.
 */
enum { LANES = 4 };

typedef double Two __attribute__((vector_size(16), may_alias));

static inline double lanes_sum(Two first, Two second) { return (first[0] + second[0]) + (first[1] + second[1]); }

static inline double dot(const double *a, const double *b, int64_t size) {
    Two first = {0, 0}, second = {0, 0};
    for (int64_t k = 0; k < size; k += LANES) {
        first += *(const Two *)(a + k) * *(const Two *)(b + k);
        second += *(const Two *)(a + k + 2) * *(const Two *)(b + k + 2);
    }
    return lanes_sum(first, second);
}

/* a.c, a.d, b.c, b.d: each number is loaded once for two products. */
static inline void four_dots(const double *a, const double *b, const double *c, const double *d, int64_t size,
                             double out[4]) {
    Two ac = {0, 0}, ad = {0, 0}, bc = {0, 0}, bd = {0, 0}, ac_ = {0, 0}, ad_ = {0, 0}, bc_ = {0, 0}, bd_ = {0, 0};
    for (int64_t k = 0; k < size; k += LANES) {
        Two of_a = *(const Two *)(a + k), of_b = *(const Two *)(b + k);
        Two of_c = *(const Two *)(c + k), of_d = *(const Two *)(d + k);
        ac += of_a * of_c;
        ad += of_a * of_d;
        bc += of_b * of_c;
        bd += of_b * of_d;
        of_a = *(const Two *)(a + k + 2), of_b = *(const Two *)(b + k + 2);
        of_c = *(const Two *)(c + k + 2), of_d = *(const Two *)(d + k + 2);
        ac_ += of_a * of_c;
        ad_ += of_a * of_d;
        bc_ += of_b * of_c;
        bd_ += of_b * of_d;
    }
    out[0] = lanes_sum(ac, ac_);
    out[1] = lanes_sum(ad, ad_);
    out[2] = lanes_sum(bc, bc_);
    out[3] = lanes_sum(bd, bd_);
}
#endif
