/* A driver of a GPU that computes nothing: its memory is this process's. For tests of what speaks with CUDA; macros say
   what it reports. What it does not have succeeds without doing anything. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef ERROR
#define ERROR 0
#endif
#ifndef VERSION
#define VERSION 13000
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef MAJOR
#define MAJOR 9
#endif
#ifndef MINOR
#define MINOR 0
#endif

typedef unsigned long long address;
static char primary[64], pool[64];
static void *current;

int cuInit(unsigned flags) { return ERROR; }
int cuGetErrorName(int error, const char **name) { *name = "CUDA_ERROR_NO_DEVICE"; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "no device"; return 0; }
int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strcpy(text, "580.95.05"); return 0; }

int cuDeviceGetCount(int *count) { *count = COUNT; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strcpy(name, "NVIDIA Stand-In"); return 0; }
int cuDeviceGetAttribute(int *value, int what, int device) {
  *value = what == 75 ? MAJOR : what == 76 ? MINOR : 1;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) { *context = primary; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxGetDevice(int *device) { *device = 0; return 0; }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return 0; }
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { *stream = (void *)7; return 0; }
int cuStreamGetCtx(void *stream, void **context) { *context = primary; return 0; }

int cuDeviceGetDefaultMemPool(void **out, int device) { *out = pool; return 0; }
int cuDeviceGetMemPool(void **out, int device) { *out = pool; return 0; }
int cuMemPoolGetAttribute(void *from, int what, void *value) { *(address *)value = 0; return 0; }
int cuMemAllocFromPoolAsync(address *memory, size_t size, void *from, void *stream) {
  *memory = (address)malloc(size);
  return 0;
}
int cuMemFreeAsync(address memory, void *stream) { free((void *)memory); return 0; }
int cuMemAllocHost(void **memory, size_t size) { *memory = malloc(size); return 0; }
int cuMemFreeHost(void *memory) { free(memory); return 0; }
int cuMemcpyAsync(address to, address from, size_t size, void *stream) {
  memcpy((void *)to, (void *)from, size);
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *what, void **values, address pointer) {
  for (unsigned i = 0; i < count; i++) *(int *)values[i] = what[i] == 2 ? 2 : 0; /* memory type: the device's */
  return 0;
}

static int nothing(void) { return 0; }
int cuGetProcAddress_v2(const char *name, void **function, int version, address flags, int *status) {
  void *own = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *found = own ? dlsym(own, strcmp(name, "cuGetProcAddress") ? name : "cuGetProcAddress_v2") : NULL;
  *function = found ? found : (void *)nothing;
  if (status) *status = 0;
  return 0;
}
