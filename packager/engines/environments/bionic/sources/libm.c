// The functions of Android's mathematics library that glibc cannot stand in for by name alone.
#include "bionic.h"
#include "quad.h"

#include <math.h>

#ifdef __x86_64__
long long bionic_llroundl(__float128 value) { return llround(double_of(value)); }
#else  // the same type on both sides
long long bionic_llroundl(long double value) { return llroundl(value); }
#endif
BIONIC(llroundl);
