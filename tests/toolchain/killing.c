/*
 * Kills the process at one of its changes of a folder, as a phone does that needs memory. Load it with LD_PRELOAD.
 *
 * MOBPACK_KILL_BELOW: the folder. MOBPACK_KILL_COUNT: a file that gets a line for each change: its number and name.
 * MOBPACK_KILL_AT: the number of the change before which the process ends with SIGKILL, from 1; 0 for never. With
 * MOBPACK_KILL_HALF a write at that place writes half of its bytes first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int changes;

static const char *below(void) {
    static const char *folder;
    static int known;
    if (!known) {
        folder = getenv("MOBPACK_KILL_BELOW");
        known = 1;
    }
    return folder;
}

static int is_below(const char *path) {
    const char *folder = below();
    size_t length = folder ? strlen(folder) : 0;
    char resolved[PATH_MAX];
    if (!length || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(resolved, sizeof resolved)) return 0;
        size_t end = strlen(resolved);
        snprintf(resolved + end, sizeof resolved - end, "/%s", path);
        path = resolved;
    }
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int is_below_at(int folder, const char *path) {
    char link[64], place[PATH_MAX];
    if (!path || path[0] == '/' || folder == AT_FDCWD) return is_below(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, place, sizeof place - 1);
    if (length < 0) return 0;
    snprintf(place + length, sizeof place - length, "/%s", path);
    return is_below(place);
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    if (!below()) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Whether the process has to end at this change. */
static int counted(const char *name) {
    const char *at = getenv("MOBPACK_KILL_AT"), *count = getenv("MOBPACK_KILL_COUNT");
    int number = __sync_add_and_fetch(&changes, 1);
    if (count) {
        int file = syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        char line[100];
        int length = snprintf(line, sizeof line, "%d %s\n", number, name);
        if (file >= 0) {
            syscall(SYS_write, file, line, length);
            syscall(SYS_close, file);
        }
    }
    return at && number == atoi(at);
}

static void end(void) { syscall(SYS_kill, getpid(), SIGKILL); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CHANGE(name, is_ours) \
    if ((is_ours) && counted(name)) end()

ssize_t write(int file, const void *bytes, size_t count) {
    if (is_file_below(file) && counted("write")) {
        if (getenv("MOBPACK_KILL_HALF")) syscall(SYS_write, file, bytes, count / 2);
        end();
    }
    return syscall(SYS_write, file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    if (is_file_below(file) && counted("pwrite")) {
        if (getenv("MOBPACK_KILL_HALF")) syscall(SYS_pwrite64, file, bytes, count / 2, offset);
        end();
    }
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) { return pwrite(file, bytes, count, offset); }

int fsync(int file) {
    CHANGE("fsync", is_file_below(file));
    return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    CHANGE("fdatasync", is_file_below(file));
    return syscall(SYS_fdatasync, file);
}

int ftruncate(int file, off_t length) {
    CHANGE("ftruncate", is_file_below(file));
    return syscall(SYS_ftruncate, file, length);
}

int ftruncate64(int file, off64_t length) { return ftruncate(file, length); }

int rename(const char *from, const char *to) {
    CHANGE("rename", is_below(from) || is_below(to));
    return syscall(SYS_rename, from, to);
}

int renameat(int old, const char *from, int new, const char *to) {
    CHANGE("rename", is_below_at(old, from) || is_below_at(new, to));
    return syscall(SYS_renameat2, old, from, new, to, 0);
}

int renameat2(int old, const char *from, int new, const char *to, unsigned flags) {
    CHANGE("rename", is_below_at(old, from) || is_below_at(new, to));
    return syscall(SYS_renameat2, old, from, new, to, flags);
}

int unlink(const char *path) {
    CHANGE("unlink", is_below(path));
    return syscall(SYS_unlink, path);
}

int unlinkat(int folder, const char *path, int flags) {
    CHANGE("unlink", is_below_at(folder, path));
    return syscall(SYS_unlinkat, folder, path, flags);
}

int remove(const char *path) {
    CHANGE("unlink", is_below(path));
    return REAL(remove)(path);
}

int mkdir(const char *path, mode_t mode) {
    CHANGE("mkdir", is_below(path));
    return syscall(SYS_mkdir, path, mode);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    CHANGE("open", writes && is_below_at(folder, path));
    return syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags)                                  \
    mode_t mode = 0;                                 \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {         \
        va_list rest;                                \
        va_start(rest, flags);                       \
        mode = va_arg(rest, mode_t);                 \
        va_end(rest);                                \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return opened(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return opened(folder, path, flags | O_LARGEFILE, mode);
}
