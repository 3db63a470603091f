// The functions of Android's C library that differ from glibc's in name, layout or numbers, for x86_64 and arm64.
//
// Left out because both sides agree there: errno values, open/mmap/fcntl flags, struct stat, dirent, timespec, tm,
// rusage and lconv, mbstate_t, locale masks, pthread_once_t, pthread_key_t, pthread_mutex_t (40 bytes, and
// PTHREAD_MUTEX_RECURSIVE is 1; glibc's has 48 on arm64 and uses 40), pthread_rwlock_t (56), and pthread_mutexattr_t
// (bionic's 8 bytes hold glibc's 4, on arm64 8). Sizes are from bionic/libc/include/bits/pthread_types.h of the
// Android sources.
#define _GNU_SOURCE
#include "bionic.h"
#include "quad.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

// --- other names -----------------------------------------------------------------------------------------------

int *bionic___errno(void) { return &errno; }
BIONIC(__errno);

// bionic's strerror_r is the POSIX one that returns a number; glibc gives that name to the GNU one.
int bionic_strerror_r(int error, char *buffer, size_t size) {
    extern int __xpg_strerror_r(int, char *, size_t);
    return __xpg_strerror_r(error, buffer, size);
}
BIONIC(strerror_r);

char *bionic___gnu_strerror_r(int error, char *buffer, size_t size) { return strerror_r(error, buffer, size); }
BIONIC(__gnu_strerror_r);

// glibc has no fortified forms of these. `size` is what the compiler knew of the buffer.
size_t bionic___strlen_chk(const char *text, size_t size) {
    size_t length = strlen(text);
    if (length >= size) abort();
    return length;
}
BIONIC(__strlen_chk);

char *bionic___strchr_chk(const char *text, int wanted, size_t size) {
    (void)size;
    return (char *)strchr(text, wanted);
}
BIONIC(__strchr_chk);

char *bionic___strrchr_chk(const char *text, int wanted, size_t size) {
    (void)size;
    return (char *)strrchr(text, wanted);
}
BIONIC(__strrchr_chk);

void bionic___FD_SET_chk(int descriptor, fd_set *set, size_t size) {
    (void)size;
    FD_SET(descriptor, set);
}
BIONIC(__FD_SET_chk);

int bionic___FD_ISSET_chk(int descriptor, const fd_set *set, size_t size) {
    (void)size;
    return FD_ISSET(descriptor, set);
}
BIONIC(__FD_ISSET_chk);

// --- Android only ----------------------------------------------------------------------------------------------

// A device's property is the environment variable of its name. Without `ro.build.version.sdk` ONNX Runtime takes the
// SDK version for unknown and keeps NNAPI off. A value has 92 bytes at most, PROP_VALUE_MAX.
int bionic___system_property_get(const char *name, char *value) {
    const char *given = getenv(name);
    return snprintf(value, 92, "%s", given ? given : "");
}
BIONIC(__system_property_get);

void bionic_android_set_abort_message(const char *message) { fprintf(stderr, "abort message: %s\n", message); }
BIONIC(android_set_abort_message);

// --- other numbers ---------------------------------------------------------------------------------------------

// The _SC_ constants of bionic/libc/include/bits/sysconf.h. A number not named here is an error that is said aloud:
// glibc would answer another question.
long bionic_sysconf(int name) {
    switch (name) {
        case 0x27:  // _SC_PAGESIZE
        case 0x28:  // _SC_PAGE_SIZE
            return sysconf(_SC_PAGESIZE);
        case 0x60: return sysconf(_SC_NPROCESSORS_CONF);
        case 0x61: return sysconf(_SC_NPROCESSORS_ONLN);
        case 0x62: return sysconf(_SC_PHYS_PAGES);
        case 0x63: return sysconf(_SC_AVPHYS_PAGES);
        default:
            fprintf(stderr, "bionic shim: sysconf(0x%x) is not known\n", name);
            errno = EINVAL;
            return -1;
    }
}
BIONIC(sysconf);

// The _PC_ constants differ too. -1 with errno untouched means "no limit", which every caller must handle.
long bionic_pathconf(const char *path, int name) {
    (void)path, (void)name;
    return -1;
}
BIONIC(pathconf);

// Flags and callback codes of <ftw.h> differ (FTW_DEPTH is 4 here, 8 in glibc). ONNX Runtime deletes folders with
// it, which no test needs: refuse rather than walk with the wrong meaning.
int bionic_nftw(const char *path, void *visit, int descriptors, int flags) {
    (void)path, (void)visit, (void)descriptors, (void)flags;
    fprintf(stderr, "bionic shim: nftw is not translated\n");
    errno = ENOSYS;
    return -1;
}
BIONIC(nftw);

// bionic's dirname leaves its argument alone, so callers pass constants; glibc's writes into it.
char *bionic_dirname(const char *path) {
    static _Thread_local char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    return dirname(copy);
}
BIONIC(dirname);

// --- signal sets: 8 bytes in bionic, 128 in glibc, which would write past the caller's ---------------------------

int bionic_sigfillset(uint64_t *set) {
    *set = ~UINT64_C(0);
    return 0;
}
BIONIC(sigfillset);

int bionic_pthread_sigmask(int how, const uint64_t *new_set, uint64_t *old_set) {
    sigset_t given, previous;
    sigemptyset(&given);
    if (new_set) memcpy(&given, new_set, sizeof *new_set);
    int result = pthread_sigmask(how, new_set ? &given : NULL, &previous);
    if (old_set) memcpy(old_set, &previous, sizeof *old_set);
    return result;
}
BIONIC(pthread_sigmask);

// --- attributes of threads --------------------------------------------------------------------------------------

// bionic's have 56 bytes. So have glibc's on x86_64; on arm64 they have 64, and glibc clears them all, but the last 8
// have no meaning.
enum { ATTRIBUTES_SIZE = 56 };

int bionic_pthread_attr_init(void *attributes) {
    pthread_attr_t own;
    int result = pthread_attr_init(&own);
    memcpy(attributes, &own, ATTRIBUTES_SIZE);
    return result;
}
BIONIC(pthread_attr_init);

// --- condition variables ---------------------------------------------------------------------------------------

// Both are 48 bytes, but bionic's is aligned to 4 and glibc uses 8-byte atomics on it. The Android object, all zero
// until its first use, therefore holds a pointer, at its first 8-byte boundary, to a glibc object of its own.
static pthread_cond_t **slot_of(void *android_condition) {
    return (pthread_cond_t **)(((uintptr_t)android_condition + 7) & ~(uintptr_t)7);
}

static pthread_cond_t *condition_of(void *android_condition) {
    pthread_cond_t **slot = slot_of(android_condition);
    pthread_cond_t *present = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (present) return present;
    pthread_cond_t *made = malloc(sizeof *made);
    if (!made) abort();
    pthread_cond_init(made, NULL);
    if (__atomic_compare_exchange_n(slot, &present, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    free(made);  // another thread was first
    return present;
}

int bionic_pthread_cond_wait(void *condition, pthread_mutex_t *mutex) {
    return pthread_cond_wait(condition_of(condition), mutex);
}
BIONIC(pthread_cond_wait);

int bionic_pthread_cond_timedwait(void *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    return pthread_cond_timedwait(condition_of(condition), mutex, until);
}
BIONIC(pthread_cond_timedwait);

int bionic_pthread_cond_signal(void *condition) { return pthread_cond_signal(condition_of(condition)); }
BIONIC(pthread_cond_signal);

int bionic_pthread_cond_broadcast(void *condition) { return pthread_cond_broadcast(condition_of(condition)); }
BIONIC(pthread_cond_broadcast);

int bionic_pthread_cond_destroy(void *condition) {
    pthread_cond_t **slot = slot_of(condition);
    if (*slot) {
        pthread_cond_destroy(*slot);
        free(*slot);
        *slot = NULL;
    }
    return 0;
}
BIONIC(pthread_cond_destroy);

// --- standard streams ------------------------------------------------------------------------------------------

// Code built for API 22 and older names them as elements of the array __sF (152 bytes each), newer code as the
// pointers stdin, stdout, stderr. Functions that such code may call with an element look up glibc's stream for it.
enum { STREAM_SIZE = 152 };
char bionic___sF[3 * STREAM_SIZE];
BIONIC(__sF);

FILE *bionic_stdin, *bionic_stdout, *bionic_stderr;
BIONIC(stdin);
BIONIC(stdout);
BIONIC(stderr);

__attribute__((constructor)) static void set_streams(void) {
    bionic_stdin = stdin;
    bionic_stdout = stdout;
    bionic_stderr = stderr;
}

static FILE *stream(FILE *android_stream) {
    uintptr_t offset = (uintptr_t)android_stream - (uintptr_t)bionic___sF;
    if (offset >= sizeof bionic___sF) return android_stream;
    return offset / STREAM_SIZE == 0 ? stdin : offset / STREAM_SIZE == 1 ? stdout : stderr;
}

int bionic_fflush(FILE *file) { return fflush(file ? stream(file) : NULL); }
BIONIC(fflush);

int bionic_fputc(int character, FILE *file) { return fputc(character, stream(file)); }
BIONIC(fputc);

int bionic_fputs(const char *text, FILE *file) { return fputs(text, stream(file)); }
BIONIC(fputs);

size_t bionic_fwrite(const void *data, size_t size, size_t count, FILE *file) {
    return fwrite(data, size, count, stream(file));
}
BIONIC(fwrite);

int bionic_getc(FILE *file) { return getc(stream(file)); }
BIONIC(getc);

int bionic_ungetc(int character, FILE *file) { return ungetc(character, stream(file)); }
BIONIC(ungetc);

int bionic_fileno(FILE *file) { return fileno(stream(file)); }
BIONIC(fileno);

int bionic_vfprintf(FILE *file, const char *format, va_list arguments) {
    return vfprintf(stream(file), format, arguments);
}
BIONIC(vfprintf);

int bionic_fprintf(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = vfprintf(stream(file), format, arguments);
    va_end(arguments);
    return result;
}
BIONIC(fprintf);

// --- long double -----------------------------------------------------------------------------------------------

#ifdef __x86_64__
__float128 bionic_strtold_l(const char *text, char **end, locale_t locale) {
    return quad_of(strtod_l(text, end, locale));
}
#else  // the same type on both sides
long double bionic_strtold_l(const char *text, char **end, locale_t locale) { return strtold_l(text, end, locale); }
#endif
BIONIC(strtold_l);
