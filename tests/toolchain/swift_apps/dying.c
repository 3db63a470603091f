// A rename() that ends the process at the one that a test names, of those that make an update durable; and ONNX Runtime
// that opens no session as often as a test says: the program's own OrtGetApiBase, over the library's.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "onnxruntime_c_api.h"

static int left;

void mobpack_die_at_rename(int number) { left = number; }

int rename(const char *old, const char *new) {
    const char *const durable[] = {"state.json", "/metadata/", "/vouchers/", "/files/"};
    int is_durable = 0;
    for (int each = 0; each < 4; each++) is_durable |= strstr(new, durable[each]) != NULL;
    if (is_durable && left > 0 && --left == 0) kill(getpid(), SIGKILL);
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

static const OrtApiBase *library;
static const OrtApi *real;
static OrtApi changed;
static char reason[200];
static int refusals;

/// Has so many sessions fail from now on.
void mobpack_refuse(int count, const char *words) {
    refusals = count;
    snprintf(reason, sizeof reason, "%s", words);
}

static OrtStatusPtr ORT_API_CALL create(const OrtEnv *env, const char *path, const OrtSessionOptions *options,
                                        OrtSession **made) {
    if (refusals > 0 && refusals--) return real->CreateStatus(ORT_FAIL, reason);
    return real->CreateSession(env, path, options, made);
}

static OrtStatusPtr ORT_API_CALL create_from_array(const OrtEnv *env, const void *bytes, size_t size,
                                                   const OrtSessionOptions *options, OrtSession **made) {
    if (refusals > 0 && refusals--) return real->CreateStatus(ORT_FAIL, reason);
    return real->CreateSessionFromArray(env, bytes, size, options, made);
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    real = library->GetApi(24);
    memcpy(&changed, real, sizeof changed);
    changed.CreateSession = create;
    changed.CreateSessionFromArray = create_from_array;
    return &changed;
}

static const char *ORT_API_CALL get_version(void) { return library->GetVersionString(); }

static const OrtApiBase base = {get_api, get_version};

const OrtApiBase *ORT_API_CALL OrtGetApiBase(void) {
    library = ((const OrtApiBase *(*)(void))dlsym(RTLD_NEXT, "OrtGetApiBase"))();
    return &base;
}
