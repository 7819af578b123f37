/* Words as the letters that they consist of, and texts as their words with single blanks between them. */
#ifndef SPELLING_H
#define SPELLING_H

#include <stdint.h>

enum { BLANK = 0 }; /* letters are numbered from 1 on */

typedef struct {
    const int32_t *letters;
    const int64_t *starts; /* of each word in `letters` */
} Spelling;

static inline int64_t letters_of(const Spelling *spelling, int32_t word) {
    return spelling->starts[word + 1] - spelling->starts[word];
}

/* How many characters so many words make. */
static inline int64_t characters_of(const Spelling *spelling, const int32_t *words, int64_t count) {
    int64_t length = count ? count - 1 : 0;
    for (int64_t k = 0; k < count; k++) length += letters_of(spelling, words[k]);
    return length;
}
#endif
