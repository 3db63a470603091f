// ONNX Runtime as a minimal build, as a version before 1.24, or with Azure's provider where XNNPACK is asked for: the
// program's own OrtGetApiBase, over the library's.

#define _GNU_SOURCE
#include "onnxruntime_c_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const OrtApiBase *library;
static const OrtApi *real;
static OrtApi changed;

static OrtStatusPtr ORT_API_CALL not_implemented(const OrtSession *session, const OrtEpAssignedSubgraph *const **list,
                                                 size_t *count) {
    return real->CreateStatus(ORT_NOT_IMPLEMENTED, "not in this build");
}

static OrtStatusPtr ORT_API_CALL append(OrtSessionOptions *options, const char *name, const char *const *keys,
                                        const char *const *values, size_t count) {
    const char *other = strcmp(name, "XNNPACK") ? name : "AZURE";
    return real->SessionOptionsAppendExecutionProvider(options, other, keys, values, count);
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    const char *kind = getenv("STAND_IN");
    const OrtApi *api = library->GetApi(version);
    bool is_other = kind && !strcmp(kind, "Azure's provider");
    if (!kind || (version < 24 && !is_other)) return api;
    if (!strcmp(kind, "before 1.24")) return NULL;
    real = library->GetApi(24);
    memcpy(&changed, real, sizeof changed);
    if (is_other) changed.SessionOptionsAppendExecutionProvider = append;
    else changed.Session_GetEpGraphAssignmentInfo = not_implemented;
    return &changed;
}

static const char *ORT_API_CALL get_version(void) { return library->GetVersionString(); }

static const OrtApiBase base = {get_api, get_version};

const OrtApiBase *ORT_API_CALL OrtGetApiBase(void) {
    library = ((const OrtApiBase *(*)(void))dlsym(RTLD_NEXT, "OrtGetApiBase"))();
    return &base;
}
