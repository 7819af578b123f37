/* Which sources this library was built from; see loader.py. */
const char *kernels_fingerprint(void) { return FINGERPRINT; }
