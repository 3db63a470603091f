// ONNX Runtime's header includes the C library's <string.h> for size_t alone: this library uses no C library.
#include <stddef.h>
