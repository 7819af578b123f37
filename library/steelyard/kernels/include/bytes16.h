/* Sixteen bytes at once, in the vector extensions of GCC and Clang: whatever the processor has becomes of them. */
#ifndef BYTES16_H
#define BYTES16_H

#include <stdint.h>
#include <string.h>
#if defined(__SSSE3__)
#include <tmmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *at) {
    bytes16 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static inline int is_any(bytes16 bytes) {
    uint64_t halves[2];
    memcpy(halves, &bytes, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* The upper bit of each byte, that of the first one lowest. */
static inline uint32_t upper_bits(bytes16 bytes) {
#if defined(__SSSE3__)
    return (uint32_t)_mm_movemask_epi8((__m128i)bytes);
#else
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++) bits |= (uint32_t)(bytes[i] >> 7) << i;
    return bits;
#endif
}

static inline int64_t sum16(bytes16 bytes) {
    int64_t sum = 0;
    for (int i = 0; i < 16; i++) sum += bytes[i];
    return sum;
}

/* table[index] for each index, which must be below 16. */
static inline bytes16 looked_up(bytes16 table, bytes16 index) {
#if defined(__SSSE3__)
    return (bytes16)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#elif defined(__aarch64__)
    return (bytes16)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)index);
#else
    bytes16 found;
    for (int i = 0; i < 16; i++) found[i] = table[index[i]];
    return found;
#endif
}

#endif
