// Android's dynamic linker functions: glibc's have the same names, flags and structures, so all are forwarded.
