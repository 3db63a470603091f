// The one function of Android's native framework that ONNX Runtime looks up: NNAPI reads weights from such memory.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

int ASharedMemory_create(const char *name, size_t size) {
    int descriptor = memfd_create(name ? name : "", MFD_CLOEXEC);
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)size) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}
