/* A small number for each code point that the references of a segment have. */
#ifndef CODE_SYMBOLS_H
#define CODE_SYMBOLS_H

#include <stdint.h>
#include <stdlib.h>

#include "utf8.h"

enum { TWO_BYTES = 0x800, PAGE = 256 }; /* code points below TWO_BYTES take one or two bytes of UTF-8 */

/* Most texts have few others, but those all over the planes. */
typedef struct {
    uint32_t narrow[TWO_BYTES];
    uint32_t *pages[CODE_POINTS / PAGE]; /* 0 where none was needed yet */
} Symbols;

static inline void symbols_free(Symbols *symbols) {
    for (int page = 0; symbols && page < CODE_POINTS / PAGE; page++) free(symbols->pages[page]);
    free(symbols);
}

/* 0 for a code point that has none. */
static inline uint32_t symbol_of(const Symbols *symbols, uint32_t code) {
    if (code < TWO_BYTES) return symbols->narrow[code];
    const uint32_t *page = symbols->pages[code / PAGE];
    return page ? page[code % PAGE] : 0;
}

/* Where that is kept, to be written; 0 when out of memory. */
static inline uint32_t *symbol_place(Symbols *symbols, uint32_t code) {
    if (code < TWO_BYTES) return &symbols->narrow[code];
    uint32_t **page = &symbols->pages[code / PAGE];
    if (!*page) *page = calloc(PAGE, sizeof **page);
    return *page ? &(*page)[code % PAGE] : 0;
}
#endif
