// Counts how often a thread allocates memory.
#include <stddef.h>

extern void *__libc_malloc(size_t size);

static _Thread_local long count;

long mobpack_allocations(void) { return count; }

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}
