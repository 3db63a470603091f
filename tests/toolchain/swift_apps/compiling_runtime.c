// ONNX Runtime with a stand-in for Core ML's provider, which compiles each model to a file and refuses a torn one: the
// program's own OrtGetApiBase, over the library's. Its sessions run on the CPU.

#define _GNU_SOURCE
#include "onnxruntime_c_api.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const OrtApiBase *library;
static const OrtApi *real;
static OrtApi changed;
static char folder[4096];

static OrtStatusPtr ORT_API_CALL append(OrtSessionOptions *options, const char *name, const char *const *keys,
                                        const char *const *values, size_t count) {
    if (strcmp(name, "CoreML")) return real->SessionOptionsAppendExecutionProvider(options, name, keys, values, count);
    for (size_t index = 0; index < count; index++)
        if (!strcmp(keys[index], "ModelCacheDirectory")) snprintf(folder, sizeof folder, "%s", values[index]);
    return NULL;
}

static const char *inside(const char *name) {
    static char path[5000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static OrtStatusPtr compiled(void) {
    if (!*folder) return NULL;
    if (!access(inside("torn"), F_OK)) return real->CreateStatus(ORT_EP_FAIL, "the compiled model is damaged");
    mkdirat(AT_FDCWD, folder, 0700);
    close(open(inside("compiled"), O_CREAT | O_WRONLY, 0600));
    return NULL;
}

static OrtStatusPtr ORT_API_CALL create(const OrtEnv *env, const char *path, const OrtSessionOptions *options,
                                        OrtSession **made) {
    OrtStatusPtr failed = compiled();
    return failed ? failed : real->CreateSession(env, path, options, made);
}

static OrtStatusPtr ORT_API_CALL create_from_array(const OrtEnv *env, const void *bytes, size_t size,
                                                   const OrtSessionOptions *options, OrtSession **made) {
    OrtStatusPtr failed = compiled();
    return failed ? failed : real->CreateSessionFromArray(env, bytes, size, options, made);
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    real = library->GetApi(version);
    memcpy(&changed, library->GetApi(24), sizeof changed);
    changed.SessionOptionsAppendExecutionProvider = append;
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
