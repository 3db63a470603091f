/*
 * Writes down what a process asks of a network, and which programs it starts. Load it with LD_PRELOAD.
 *
 * MOBPACK_WITNESS: a file that gets a line for each: `lookup NAME`, `connect ADDRESS PORT`, `send ADDRESS PORT` or
 * `program PATH`. Nothing is held back. What makes system calls without the C library is not seen.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void say(const char *kind, const char *what) {
    const char *path = getenv("MOBPACK_WITNESS");
    char line[1200];
    int length = snprintf(line, sizeof line, "%s %.1000s\n", kind, what ? what : "");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    if (write(file, line, (size_t)length) != length) abort();
    close(file);
}

static void say_address(const char *kind, const struct sockaddr *address) {
    char text[INET6_ADDRSTRLEN] = "", both[INET6_ADDRSTRLEN + 8];
    int port;
    if (!address) return;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *found = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &found->sin_addr, text, sizeof text);
        port = ntohs(found->sin_port);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *found = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &found->sin6_addr, text, sizeof text);
        port = ntohs(found->sin6_port);
    } else {
        return;
    }
    snprintf(both, sizeof both, "%s %d", text, port);
    say(kind, both);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    say("lookup", name);
    return REAL(getaddrinfo)(name, service, hints, found);
}

struct hostent *gethostbyname(const char *name) {
    say("lookup", name);
    return REAL(gethostbyname)(name);
}

int connect(int file, const struct sockaddr *address, socklen_t length) {
    say_address("connect", address);
    return REAL(connect)(file, address, length);
}

ssize_t sendto(int file, const void *data, size_t size, int flags, const struct sockaddr *address, socklen_t length) {
    say_address("send", address);
    return REAL(sendto)(file, data, size, flags, address, length);
}

int execve(const char *path, char *const arguments[], char *const variables[]) {
    say("program", path);
    return REAL(execve)(path, arguments, variables);
}

int execv(const char *path, char *const arguments[]) {
    say("program", path);
    return REAL(execv)(path, arguments);
}

int execvp(const char *path, char *const arguments[]) {
    say("program", path);
    return REAL(execvp)(path, arguments);
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[]) {
    say("program", path);
    return REAL(posix_spawn)(process, path, actions, attributes, arguments, variables);
}

int system(const char *line) {
    say("program", line);
    return REAL(system)(line);
}

FILE *popen(const char *line, const char *mode) {
    say("program", line);
    return REAL(popen)(line, mode);
}
