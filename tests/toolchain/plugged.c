// ONNX Runtime that starts LIAR from its plug-in, a library that the variable LIAR names: an OrtGetApiBase over that of the
// library that ONNXRUNTIME names, or over that of the program.

#define _GNU_SOURCE
#include "onnxruntime_c_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const OrtApiBase *library;
static const OrtApi *real;
static OrtApi changed;

// Puts the library in, under the one name or the other.
static OrtStatusPtr plug(OrtEnv *env, const char *name) {
    static const char *before;
    if (before && !strcmp(before, name)) return NULL;
    OrtStatusPtr failed = before ? real->UnregisterExecutionProviderLibrary(env, before) : NULL;
    if (!failed) failed = real->RegisterExecutionProviderLibrary(env, name, getenv("LIAR"));
    if (!failed) before = name;
    return failed;
}

static OrtStatusPtr find(OrtEnv *env, const OrtEpDevice **found) {
    const OrtEpDevice *const *devices;
    size_t count;
    OrtStatusPtr failed = real->GetEpDevices(env, &devices, &count);
    for (size_t i = 0; !failed && i < count; i++)
        if (!strcmp(real->EpDevice_EpName(devices[i]), "LiarExecutionProvider")) *found = devices[i];
    return failed;
}

static OrtStatusPtr ORT_API_CALL append(OrtSessionOptions *options, const char *name, const char *const *keys,
                                        const char *const *values, size_t count) {
    if (strcmp(name, "LIAR")) return real->SessionOptionsAppendExecutionProvider(options, name, keys, values, count);
    const OrtEpDevice *device = NULL;
    OrtEnv *env;
    OrtStatusPtr failed = real->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "liar", &env);
    if (!failed) failed = plug(env, count && !strcmp(values[0], "no device") ? "liar-without-device" : "liar");
    if (!failed) failed = find(env, &device);
    if (failed) return failed;
    if (!device) return real->CreateStatus(ORT_FAIL, "the plug-in finds no device");
    return real->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, keys, values, count);
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    (void)version;
    real = library->GetApi(ORT_API_VERSION);
    changed = *real;
    changed.SessionOptionsAppendExecutionProvider = append;
    return &changed;
}

static const char *ORT_API_CALL get_version(void) { return library->GetVersionString(); }

static const OrtApiBase base = {get_api, get_version};

const OrtApiBase *ORT_API_CALL OrtGetApiBase(void) {
    const char *named = getenv("ONNXRUNTIME");
    void *place = named ? dlopen(named, RTLD_NOW) : RTLD_NEXT;
    library = ((const OrtApiBase *(*)(void))dlsym(place, "OrtGetApiBase"))();
    return &base;
}
