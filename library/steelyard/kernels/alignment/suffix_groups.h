/* Positions of a text grouped by what follows them, for texts of any length and repetitiveness.
 *
 * A suffix array by prefix doubling (Manber and Myers, "Suffix arrays", SIAM J. Comput. 22, 1993) and the common
 * prefixes of its neighbours (Kasai et al., "Linear-time longest-common-prefix computation", CPM 2001). Two
 * positions begin the same n words exactly when no prefix between their places in the array is shorter than n.
 */
#ifndef SUFFIX_GROUPS_H
#define SUFFIX_GROUPS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * text: `size` symbols from 0 to symbols - 1, size >= 1. Fills array (positions in order of their suffixes), place
 * (its inverse) and common (common[k]: length of the prefix that suffixes k - 1 and k share; common[0] is 0).
 * scratch: 2 * size + symbols + 1 numbers.
 */
static inline void suffix_array(const int32_t *text, int32_t size, int32_t symbols, int32_t *array, int32_t *place,
                                int32_t *common, int32_t *scratch) {
    int32_t *by_second = scratch, *fresh = scratch + size, *ends = common, classes = 0;
    int32_t *symbol_ends = scratch + 2 * (size_t)size;
    memset(symbol_ends, 0, ((size_t)symbols + 1) * sizeof *symbol_ends);
    for (int32_t i = 0; i < size; i++) symbol_ends[text[i] + 1]++;
    for (int32_t s = 0; s < symbols; s++) symbol_ends[s + 1] += symbol_ends[s];
    for (int32_t i = 0; i < size; i++) array[symbol_ends[text[i]]++] = i;
    for (int32_t k = 0; k < size; k++) {
        classes += k == 0 || text[array[k]] != text[array[k - 1]];
        place[array[k]] = classes - 1;
    }
    for (int64_t width = 1; classes < size; width *= 2) {
        int32_t step = (int32_t)width, filled = 0;
        for (int32_t i = size - step; i < size; i++) by_second[filled++] = i;
        for (int32_t k = 0; k < size; k++)
            if (array[k] >= step) by_second[filled++] = array[k] - step;
        memset(ends, 0, (size_t)classes * sizeof *ends);
        for (int32_t i = 0; i < size; i++) ends[place[i]]++;
        for (int32_t c = 1; c < classes; c++) ends[c] += ends[c - 1];
        for (int32_t k = size; k-- > 0;) array[--ends[place[by_second[k]]]] = by_second[k];
        classes = 0;
        for (int32_t k = 0; k < size; k++) {
            int32_t here = array[k], before = k ? array[k - 1] : 0;
            int differs = k == 0 || place[here] != place[before];
            if (!differs) {
                int32_t second = here + width < size ? place[here + step] : -1;
                differs = second != (before + width < size ? place[before + step] : -1);
            }
            classes += differs;
            fresh[here] = classes - 1;
        }
        memcpy(place, fresh, (size_t)size * sizeof *place);
    }
    common[0] = 0;
    for (int32_t i = 0, length = 0; i < size; i++) {
        if (place[i] == 0) {
            length = 0;
            continue;
        }
        int32_t other = array[place[i] - 1];
        while (i + length < size && other + length < size && text[i + length] == text[other + length]) length++;
        common[place[i]] = length;
        if (length) length--;
    }
}
#endif
