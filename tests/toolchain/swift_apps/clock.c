// Counts how often the clock is read through libdispatch, as Swift code does; ONNX Runtime reads it too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int reads;

int mobpack_clock_reads(void) { return reads; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libdispatch")) reads++;
    return (int)syscall(SYS_clock_gettime, clock, time);
}
