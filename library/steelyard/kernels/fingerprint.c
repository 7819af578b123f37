/* Which sources this library was built from; see loader.py. */
#include "kernel.h"

KERNEL const char *steelyard_fingerprint(void) { return FINGERPRINT; }
