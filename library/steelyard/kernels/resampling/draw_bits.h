/* How counts of draws lie in memory; draw_bits.c makes it of counts, and the bits of swaps are it already.
 *
 * A row is a replicate or a trial, a run is 64 segments, segment i of it bit i of a word.
 */
#ifndef DRAW_BITS_H
#define DRAW_BITS_H

#include <stdint.h>

enum { RUN = 64, GROUP = 8, GROUPS = RUN / GROUP };

typedef struct {
    int64_t rows, runs;
    int64_t planes;          /* words of each run and row: 1, the bits; or 2, the bits of worth 1 and those of worth 2 */
    const uint64_t *bits;    /* (runs, rows, planes) */
    const int64_t *ends;     /* (1 + runs x rows) where the entries of each run and row end; NULL where there are none */
    const uint16_t *entries; /* of worth 4: group << 8 | its segments, one bit each; as often as it is drawn */
} DrawBits;

/* Bits of one group. */
static inline unsigned group_of(uint64_t word, int group) { return (unsigned)(word >> GROUP * group & 255); }

#endif
