// What every shim source needs: the mark that puts a function in Android's place.
//
// BIONIC(name) exports `bionic_name` as `name@LIBC`, the versioned name that Android binaries ask for. The plain
// name stays free, so inside the function it means glibc's. packager/engines/environments/bionic/builder.py reads these marks: a name
// without one is forwarded to the glibc function of the same name by a single jump, arguments untouched.
#pragma once

#define BIONIC(name) __asm__(".symver bionic_" #name "," #name "@LIBC")
