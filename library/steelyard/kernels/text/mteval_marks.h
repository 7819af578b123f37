/* The rule of mteval for marks, such as full stops and commas, beside numbers.
 *
 * mteval's rules are rounds of replacements over pairs of characters, from left to right and not overlapping: first
 * (no number)(mark) -> "x y ", then (mark)(no number) -> " x y". Worked out for a run of marks they say:
 *  - all marks of a run are cut apart;
 *  - a single mark between two numbers is cut from neither;
 *  - otherwise the run is cut from what is before it, and from what is behind it unless that is a number with which the
 *    first round's pairs leave the last mark over. The pairs begin with the character before the run where that is no
 *    number, and with the first mark otherwise.
 */
#ifndef MTEVAL_MARKS_H
#define MTEVAL_MARKS_H

#include <stdint.h>

/* Whether the last mark of a run before a number stays with the number. */
static inline int last_mark_stays(int64_t run, int behind_number) { return (run % 2 == 1) == behind_number; }
#endif
