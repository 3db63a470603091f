// The functions of Android's mathematics library that glibc cannot stand in for by name alone.
#include "bionic.h"
#include "quad.h"

#include <math.h>

long long bionic_llroundl(__float128 value) { return llround(double_of(value)); }
BIONIC(llroundl);
