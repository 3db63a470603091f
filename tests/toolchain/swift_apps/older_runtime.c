// ONNX Runtime as a minimal build, or as a version before 1.24: the program's own OrtGetApiBase, over the library's.

#define _GNU_SOURCE
#include "onnxruntime_c_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const OrtApiBase *library;
static OrtApi minimal;

static OrtStatusPtr ORT_API_CALL not_implemented(const OrtSession *session, const OrtEpAssignedSubgraph *const **list,
                                                 size_t *count) {
    return minimal.CreateStatus(ORT_NOT_IMPLEMENTED, "not in this build");
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    const char *kind = getenv("STAND_IN");
    const OrtApi *api = library->GetApi(version);
    if (!kind || version < 24) return api;
    if (!strcmp(kind, "before 1.24")) return NULL;
    memcpy(&minimal, api, sizeof minimal);
    minimal.Session_GetEpGraphAssignmentInfo = not_implemented;
    return &minimal;
}

static const char *ORT_API_CALL get_version(void) { return library->GetVersionString(); }

static const OrtApiBase base = {get_api, get_version};

const OrtApiBase *ORT_API_CALL OrtGetApiBase(void) {
    library = ((const OrtApiBase *(*)(void))dlsym(RTLD_NEXT, "OrtGetApiBase"))();
    return &base;
}
