/* What kernels return where they cannot go on; bindings.py makes exceptions of these two. Other numbers below 0 are those of
 * a single kernel, which says what they mean. */
#ifndef STATUS_H
#define STATUS_H

enum { OUT_OF_MEMORY = -1, TOO_LONG = -16 /* more words than its numbers can count */ };
#endif
