/* Random words that are a function of their place: Philox4x64-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011), section 3. NumPy's Philox(key=[seed, node], counter=[0, 0, 0, chunk]) gives the
 * same ones.
 */
#ifndef PHILOX_H
#define PHILOX_H

#include "fixed_point.h"

enum { WORDS = 128 }; /* generated at a time */

typedef struct {
    uint64_t seed, node, chunk;
    uint64_t counter; /* of the last block generated */
    int at;           /* the next unused word */
    uint64_t words[WORDS];
} Stream;

static void start(Stream *stream, uint64_t seed, uint64_t node, uint64_t chunk) {
    stream->seed = seed;
    stream->node = node;
    stream->chunk = chunk;
    stream->counter = 0;
    stream->at = WORDS;
}

static void refill(Stream *stream) {
    for (int i = 0; i < WORDS; i += 4) {
        uint64_t a = ++stream->counter, b = 0, c = 0, d = stream->chunk;
        uint64_t key0 = stream->seed, key1 = stream->node;
        for (int round = 0; round < 10; round++) {
            uint128 first = (uint128)a * 0xD2E7470EE14C6C93u, second = (uint128)c * 0xCA5A826395121157u;
            a = (uint64_t)(second >> 64) ^ b ^ key0;
            b = (uint64_t)second;
            c = (uint64_t)(first >> 64) ^ d ^ key1;
            d = (uint64_t)first;
            key0 += 0x9E3779B97F4A7C15u;
            key1 += 0xBB67AE8584CAA73Bu;
        }
        stream->words[i] = a;
        stream->words[i + 1] = b;
        stream->words[i + 2] = c;
        stream->words[i + 3] = d;
    }
    stream->at = 0;
}

static inline uint64_t next_word(Stream *stream) {
    if (stream->at == WORDS) refill(stream);
    return stream->words[stream->at++];
}

#endif
