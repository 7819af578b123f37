/* Whether a text has what must be looked at before it is cut or folded: markup, and capital sigmas. See entities.py. */
#include "bytes16.h"
#include "kernel.h"

enum { ENTITY = 1, SIGMA = 2, BOTH = ENTITY | SIGMA, BLOCK = 64 };
enum { SIGMA_FIRST = 0xCE, SIGMA_SECOND = 0xA3, KELVIN_FIRST = 0xE2, SMALL = 0x20 /* makes an ASCII letter small */ };

static int has_candidate(const uint8_t *block) {
    bytes16 found = {0};
    for (int i = 0; i < BLOCK; i += 16) {
        const bytes16 bytes = load16(block + i);
        found |= (bytes16)(bytes == '&') | (bytes16)(bytes == '<') | (bytes16)(bytes == SIGMA_FIRST);
    }
    return is_any(found);
}

/* Whether a name stands here once it is folded: the Kelvin sign becomes a k, too. */
static int begins(const uint8_t *at, const uint8_t *end, const char *name) {
    for (; *name; name++, at++) {
        if (at == end) return 0;
        if (*name == 'k' && *at == KELVIN_FIRST) return 1;
        if ((*at | SMALL) != (uint8_t)*name) return 0;
    }
    return 1;
}

/* What the byte at `at` begins. */
static int64_t begun(const uint8_t *at, const uint8_t *end) {
    static const char *const names[] = {"quot;", "amp;", "lt;", "gt;", "skipped>"};
    if (*at == SIGMA_FIRST) return at + 1 < end && at[1] == SIGMA_SECOND ? SIGMA : 0;
    if (*at != '&' && *at != '<') return 0;
    for (int i = 0; i < 5; i++)
        if (begins(at + 1, end, names[i])) return ENTITY;
    return 0;
}

/* ENTITY where `&` or `<` stands before one of the names above, in capitals or not, SIGMA where there is a capital sigma.
 * Some bytes that are no letters count as letters: that it says ENTITY proves nothing, that it does not say it does.
 *
 * Reads text: uint8[size]. */
KERNEL int64_t steelyard_find_entities(const uint8_t *text, int64_t size) {
    const uint8_t *const end = text + size;
    int64_t found = 0;
    for (const uint8_t *at = text; at < end && found != BOTH;) {
        const uint8_t *const stop = end - at < BLOCK ? end : at + BLOCK;
        if (end - at >= BLOCK && !has_candidate(at)) {
            at = stop;
            continue;
        }
        for (; at < stop; at++) found |= begun(at, end);
    }
    return found;
}
