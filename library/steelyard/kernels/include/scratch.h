/* Scratch memory that is used again for each segment. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    void *memory;
    size_t room;
} Buffer;

/* Room for so many bytes; what was in it is lost when it grows. Returns -1 when out of memory. */
static inline int reserve(Buffer *buffer, size_t bytes) {
    if (bytes <= buffer->room) return 0;
    free(buffer->memory);
    buffer->room = 0;
    buffer->memory = bytes <= SIZE_MAX / 2 ? malloc(bytes + bytes / 2) : 0;
    if (!buffer->memory) return -1;
    buffer->room = bytes + bytes / 2;
    return 0;
}
#endif
