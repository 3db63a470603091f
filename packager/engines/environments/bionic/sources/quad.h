// Android's long double on x86_64 is the 128-bit IEEE type, passed in an SSE register; glibc's is the 80-bit x87 one.
//
// The conversions are written out because the compiler's own come in one object with its memcpy and memset, which
// would then take the place of glibc's. They cut to double precision, and numbers below its normal range to zero:
// enough for the text that ONNX Runtime parses.
#pragma once

#ifdef __x86_64__
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t low, high;
} QuadBits;

static inline double double_of(__float128 value) {
    QuadBits quad;
    memcpy(&quad, &value, sizeof quad);
    int exponent = (int)(quad.high >> 48 & 0x7fff) - 16383 + 1023;
    uint64_t fraction = (quad.high & 0xffffffffffff) << 4 | quad.low >> 60;
    if (exponent == 0x7fff - 16383 + 1023) {  // infinity, or not a number
        exponent = 0x7ff;
    } else if (exponent >= 0x7ff) {
        exponent = 0x7ff, fraction = 0;
    } else if (exponent <= 0) {
        exponent = 0, fraction = 0;
    }
    uint64_t bits = (quad.high >> 63) << 63 | (uint64_t)exponent << 52 | fraction;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static inline __float128 quad_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & 0xfffffffffffff;
    if (exponent == 0x7ff) {
        exponent = 0x7fff;
    } else if (exponent == 0) {
        fraction = 0;
    } else {
        exponent += 16383 - 1023;
    }
    QuadBits quad = {.low = fraction << 60, .high = (bits >> 63) << 63 | exponent << 48 | fraction >> 4};
    __float128 result;
    memcpy(&result, &quad, sizeof result);
    return result;
}
#endif
