// A rename() that ends the process at the one that a test names, of those that make an update durable.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "onnxruntime_c_api.h"

static int left;

void mobpack_die_at_rename(int number) { left = number; }

int rename(const char *old, const char *new) {
    int is_durable = strstr(new, "state.json") || strstr(new, "/documents/") || strstr(new, "/files/");
    if (is_durable && left > 0 && --left == 0) kill(getpid(), SIGKILL);
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}
