/* A text with blanks where mteval-v13a cuts it. */
#include "kernel.h"
#include "token_cuts.h"

/* text: UTF-8 lines without entities. out: gets the lines with a blank wherever a token begins right behind another one.
 * Returns how many bytes were written.
 *
 * Reads text: uint8[size]. Writes out: uint8[2 * size]. */
KERNEL int64_t steelyard_tokenize_13a(const uint8_t *text, int64_t size, uint8_t *out) {
    Cutter cut = cutter(text, size, 1);
    uint8_t *const first = out;
    int64_t copied = 0;
    for (int64_t base = 0; base < size; base += 64) {
        Cuts cuts = cuts_of(&cut, base);
        for (uint64_t seams = cuts.begins & cuts.ends; seams; seams &= seams - 1) {
            int64_t seam = base + __builtin_ctzll(seams);
            memcpy(out, text + copied, (size_t)(seam - copied));
            out += seam - copied;
            *out++ = ' ';
            copied = seam;
        }
    }
    memcpy(out, text + copied, (size_t)(size - copied));
    return out + (size - copied) - first;
}
