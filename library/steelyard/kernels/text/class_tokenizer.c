/* Puts blanks where a tokenizer cuts, for those that cut by kinds of characters, of any script: intl, zh, char and thesis.
 * See class_tokenizer.py. 13a looks at ASCII alone, which token_cuts.h does 64 bytes at a time; both apply the one rule of
 * mteval_marks.h. Here the edge of a line counts as a number: no pair begins or ends with it.
 */
#include "kernel.h"
#include "mteval_marks.h"
#include "utf8.h"

#include <stdint.h>
#include <string.h>

/* Kinds of characters, as in class_tokenizer.py. */
enum { OTHER, NUMBER, MARK, ALONE, DASH, BLANK, EDGE /* of the line */ };
/* Rules, as in class_tokenizer.py. */
enum { LEFT_TRIMMED = 1, LOOKING_AHEAD = 2 };

typedef struct {
    const uint8_t *kinds;
    const uint8_t *end; /* of the line */
} Line;

/* The kind of the character at `at`; *width is set to its bytes, never beyond the end of the line. */
static inline int kind_at(const Line *line, const uint8_t *at, int *width) {
    *width = 1;
    if (*at < 0x80) return line->kinds[*at];
    const int bytes = width_of(*at);
    if (line->end - at < bytes) return OTHER;
    *width = bytes;
    /* Each with a width that compilers know. */
    if (bytes == 2) return line->kinds[code_of(at, 2)];
    if (bytes == 3) return line->kinds[code_of(at, 3)];
    const uint32_t code = code_of(at, 4);
    return code < CODE_POINTS ? line->kinds[code] : OTHER;
}

static inline int is_open(int kind) { return kind != NUMBER && kind != EDGE; }

static inline uint8_t *copy(uint8_t *out, const uint8_t *at, int width) {
    for (int i = 0; i < width; i++) *out++ = at[i];
    return out;
}

static inline uint8_t *apart(uint8_t *out, const uint8_t *at, int width) {
    *out++ = ' ';
    out = copy(out, at, width);
    *out++ = ' ';
    return out;
}

/* A run of marks that begins at *from; moves *from behind it. */
static uint8_t *put_run(uint8_t *out, const Line *line, const uint8_t **from, int before, int rules) {
    const uint8_t *at = *from;
    int width, behind = EDGE;
    int64_t run = 0;
    for (; at < line->end; at += width, run++) {
        const int kind = kind_at(line, at, &width);
        if (kind != MARK) {
            behind = kind;
            break;
        }
    }
    int cut_before, cut_behind;
    if (rules & LOOKING_AHEAD) {
        /* Each mark stands alone unless a number follows: only the last of a run can have one. */
        cut_behind = behind != NUMBER;
        cut_before = cut_behind || run > 1;
    } else {
        cut_behind = is_open(behind) || !last_mark_stays(run, !is_open(before));
        cut_before = is_open(before) || run > 1 || is_open(behind);
    }
    if (cut_before) *out++ = ' ';
    for (const uint8_t *mark = *from; mark < at; mark += width) {
        width = width_of(*mark);
        if (mark > *from) *out++ = ' ';
        out = copy(out, mark, width);
    }
    if (cut_behind) *out++ = ' ';
    *from = at;
    return out;
}

/* Where the line's last character that is no blank ends. */
static const uint8_t *trimmed_end(Line line, const uint8_t *begin) {
    while (line.end > begin) {
        const uint8_t *last = line.end - 1;
        int width;
        while (last > begin && (*last & 0xC0) == 0x80) last--;
        if (kind_at(&line, last, &width) != BLANK) break;
        line.end = last;
    }
    return line.end;
}

/* kinds: of each of the 0x110000 code points. out: room for 3 * size + 2 bytes, as a character becomes at
 * most itself between two blanks. Returns how many bytes were written.
 *
 * Reads text: uint8[size], kinds: uint8[0x110000]. Writes out: uint8[3 * size + 2]. */
KERNEL int64_t steelyard_tokenize_by_class(const uint8_t *text, int64_t size, const uint8_t *kinds, int64_t rules,
                                           uint8_t *out) {
    const uint8_t *at = text, *const last = text + size;
    uint8_t *const begin = out;
    while (at <= last) {
        const uint8_t *newline = at < last ? memchr(at, '\n', (size_t)(last - at)) : 0;
        if (!newline) newline = last;
        Line line = {kinds, newline};
        line.end = trimmed_end(line, at);
        int before = EDGE, width;
        if (rules & LEFT_TRIMMED)
            while (at < line.end && kind_at(&line, at, &width) == BLANK) at += width;
        while (at < line.end) {
            const int kind = kind_at(&line, at, &width);
            switch (kind) {
            case MARK:
                out = put_run(out, &line, &at, before, (int)rules);
                before = MARK;
                continue;
            case ALONE:
                out = apart(out, at, width);
                break;
            case DASH:
                out = before == NUMBER ? apart(out, at, width) : copy(out, at, width);
                break;
            case BLANK:
                if (rules & LOOKING_AHEAD && before == NUMBER) {
                    const uint8_t *next = at;
                    int ahead = BLANK;
                    while (next < line.end && (ahead = kind_at(&line, next, &width)) == BLANK) next += width;
                    if (ahead == NUMBER) {
                        at = next;
                        continue;
                    }
                    kind_at(&line, at, &width);
                }
                out = copy(out, at, width);
                break;
            default:
                out = copy(out, at, width);
            }
            before = kind;
            at += width;
        }
        if (newline < last) *out++ = '\n';
        at = newline + 1;
    }
    return out - begin;
}
