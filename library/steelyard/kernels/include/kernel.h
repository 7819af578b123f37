/* What every kernel declares: that the library exports it, and what it returns where it cannot go on.
 *
 * All arrays belong to the caller, are C-contiguous and aligned, and are used during the call alone; memory that a kernel
 * allocates it frees before it returns. The comment of each kernel says with which dtype and shape it "Reads" and "Writes"
 * them, as the table of bindings.py does, which checks each call before C sees it: * is any length, ? may be a null pointer,
 * DTYPE|DTYPE is either, an address is a number that nobody checks. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

/* All other symbols of the library are hidden. */
#define KERNEL __attribute__((visibility("default")))

/* bindings.py has the same numbers, and makes exceptions of the first two. Results of 0 and more are those of the kernel. */
enum Status {
    OUT_OF_MEMORY = -1,
    TOO_MANY_WORDS = -2,    /* more than its numbers can count */
    BAD_TEXT = -3,          /* not as many lines as the caller says, or no UTF-8 */
    COUNT_TOO_LARGE = -4,   /* for the integers that shall hold it */
    BEYOND_TABLE = -5,      /* a code point for which the table given is too short */
    DEPENDS_ON_CONTEXT = -6 /* a code point whose lower case hangs on its neighbours or is more than one */
};
#endif
