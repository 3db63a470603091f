// Preloaded into Java that runs Android's arm64 libraries on glibc.
//
// Their code guards its stack with the 8 bytes at 40 above the thread pointer (TLS_SLOT_STACK_GUARD of
// bionic/libc/platform/bionic/tls_defines.h). On glibc variables of the thread begin 16 above it, with those of the
// library that is loaded first: this one, so that no variable there changes while a function runs.
__thread char stack_guard[64] __attribute__((aligned(16)));
