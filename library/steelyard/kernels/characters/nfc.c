/* Whether a text certainly is in Unicode's NFC, as most are. See nfc.py. */
#include "bytes16.h"
#include "kernel.h"
#include "utf8.h"

/*
 * Letters that stay whole in NFC whatever stands beside them: none of them decomposes, is combining, or composes with what
 * is before it. Unicode promises that this stays so. First and last; those up to U+02FF, U+0400 to U+047F, U+4000 to
 * U+9FFF and U+B000 to U+CFFF are recognised by their first byte alone.
 */
static const uint32_t WHOLE[][2] = {
    {0x388, 0x482}, {0x48A, 0x590}, /* Greek, Cyrillic, Armenian */
    {0x5D0, 0x5EA}, {0x620, 0x64A}, /* Hebrew, Arabic */
    {0x2002, 0x20CF}, /* punctuation, currencies */
    {0x2100, 0x2125}, {0x212C, 0x2328}, {0x232B, 0x2ADB}, /* signs, arrows, mathematics, shapes */
    {0x3000, 0x3029}, {0x3041, 0x3096}, {0x309B, 0x30FF}, /* kana */
    {0x3400, 0x3FFF}, {0xAC00, 0xAFFF}, {0xD000, 0xD7A3}, /* Chinese, Korean */
    {0xFE0F, 0xFE0F}, {0xFF01, 0xFF9D}, {0x1F300, 0x1F9FF}, /* wide letters, pictures */
};

/* The bytes of 16 that begin a letter which has to be looked at, as the upper bit of each. */
static inline bytes16 doubtful(bytes16 bytes) {
    const bytes16 from_cc = (bytes16)(bytes >= 0xCC), cyrillic = (bytes16)((bytes & 0xFE) == 0xD0);
    const bytes16 chinese = (bytes16)(bytes - 0xE4 < 6), korean = (bytes16)(bytes - 0xEB < 2);
    return from_cc & ~(cyrillic | chinese | korean);
}

static int is_whole(const uint8_t *at, const uint8_t *end) {
    const int width = width_of(*at);
    if (end - at < width) return 0;
    const uint32_t code = code_of(at, width);
    for (unsigned i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++)
        if (code >= WHOLE[i][0] && code <= WHOLE[i][1]) return 1;
    return 0;
}

/* Whether the letters that begin in the 16 bytes at `at` are whole; the text has `end`. */
static inline int are_whole(bytes16 bytes, const uint8_t *at, const uint8_t *end) {
    for (uint32_t bits = upper_bits(doubtful(bytes)); bits; bits &= bits - 1)
        if (!is_whole(at + __builtin_ctz(bits), end)) return 0;
    return 1;
}

/* Whether all letters of the text, UTF-8, are whole; if not, it may be in NFC all the same.
 *
 * Reads text: uint8[size]. */
KERNEL int64_t steelyard_nfc_surely(const uint8_t *text, int64_t size) {
    const uint8_t *const end = text + size;
    uint8_t last[16] = {0};
    memcpy(last, end - size % 16, (size_t)(size % 16));
    for (; end - text >= 16; text += 16)
        if (!are_whole(load16(text), text, end)) return 0;
    return are_whole(load16(last), text, end);
}
