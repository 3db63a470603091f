// ONNX Runtime's header includes the C library's <stdlib.h> for size_t alone: this library uses no C library.
#include <stddef.h>
