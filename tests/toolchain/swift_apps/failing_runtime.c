// ONNX Runtime with a provider that takes every model, and whose runs fail when a test says so: the program's own
// OrtGetApiBase, over the library's. Its sessions run on the CPU. Ends the program where a run meets a freed session.

#define _GNU_SOURCE
#include "onnxruntime_c_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROVIDER "XNNPACK"
#define MOST 1024

typedef struct {
    const void *of;
    bool is_providers;
    int runs;
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry entries[MOST]; // sessions that are open, and options for them
static int open_sessions;
static _Atomic bool fails, waits, waiting, terminated, refuses, waits_to_open, opening, goes_on;
static const char *message = "the GPU was taken away";
static const OrtApiBase *library;
static const OrtApi *real;
static OrtApi changed;

void mobpack_fail(bool is_failing) { fails = is_failing; }

/// What a run that fails says, and a session that cannot be opened.
void mobpack_fail_with(const char *words) { message = strdup(words); }

/// Has no session opened from now on.
void mobpack_refuse_to_open(bool is_refusing) { refuses = is_refusing; }

/// Has the next session wait until `mobpack_go_on`.
void mobpack_wait_to_open(void) { waits_to_open = true; }

/// Whether a session waits.
bool mobpack_is_opening(void) { return opening; }

void mobpack_go_on(void) { goes_on = true; }

/// Has the provider's next run wait until it is to end, and fail then.
void mobpack_wait(void) { waits = true; }

/// Whether that run has begun.
bool mobpack_is_waiting(void) { return waiting; }

int mobpack_open_sessions(void) { return open_sessions; }

static Entry *entry(const void *of) {
    for (int index = 0; index < MOST; index++)
        if (entries[index].of == of) return &entries[index];
    fprintf(stderr, "no such session, or too many\n");
    abort();
}

/// Notes what was made, or with `of` NULL that it was freed.
static void note(const void *before, const void *of, bool is_providers) {
    pthread_mutex_lock(&lock);
    Entry *found = entry(before);
    if (found->runs) {
        fprintf(stderr, "a session is freed that is running\n");
        abort();
    }
    *found = (Entry){of, is_providers, 0};
    pthread_mutex_unlock(&lock);
}

static bool is_providers(const void *of, int runs) {
    pthread_mutex_lock(&lock);
    Entry *found = entry(of);
    found->runs += runs;
    bool is_providers = found->is_providers;
    pthread_mutex_unlock(&lock);
    return is_providers;
}

static OrtStatusPtr ORT_API_CALL create_options(OrtSessionOptions **made) {
    OrtStatusPtr status = real->CreateSessionOptions(made);
    if (!status) note(NULL, *made, false);
    return status;
}

static void ORT_API_CALL release_options(OrtSessionOptions *options) {
    note(options, NULL, false);
    real->ReleaseSessionOptions(options);
}

static OrtStatusPtr ORT_API_CALL append(OrtSessionOptions *options, const char *name, const char *const *keys,
                                        const char *const *values, size_t count) {
    if (strcmp(name, PROVIDER)) return real->SessionOptionsAppendExecutionProvider(options, name, keys, values, count);
    note(options, options, true);
    return NULL;
}

static OrtStatusPtr opened(OrtStatusPtr status, const OrtSessionOptions *options, OrtSession **made) {
    if (status) return status;
    note(NULL, *made, is_providers(options, 0));
    pthread_mutex_lock(&lock);
    open_sessions++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/// Waits where a test wants that. Why no session may be opened.
static OrtStatusPtr refusal(void) {
    if (atomic_exchange(&waits_to_open, false)) {
        opening = true;
        while (!goes_on) usleep(1000);
        opening = false;
    }
    return refuses ? real->CreateStatus(ORT_FAIL, message) : NULL;
}

static OrtStatusPtr ORT_API_CALL create(const OrtEnv *env, const char *path, const OrtSessionOptions *options,
                                        OrtSession **made) {
    OrtStatusPtr refused = refusal();
    if (refused) return refused;
    return opened(real->CreateSession(env, path, options, made), options, made);
}

static OrtStatusPtr ORT_API_CALL create_from_array(const OrtEnv *env, const void *bytes, size_t size,
                                                   const OrtSessionOptions *options, OrtSession **made) {
    OrtStatusPtr refused = refusal();
    if (refused) return refused;
    return opened(real->CreateSessionFromArray(env, bytes, size, options, made), options, made);
}

static void ORT_API_CALL release(OrtSession *session) {
    note(session, NULL, false);
    pthread_mutex_lock(&lock);
    open_sessions--;
    pthread_mutex_unlock(&lock);
    real->ReleaseSession(session);
}

static OrtStatusPtr ORT_API_CALL terminate(OrtRunOptions *options) {
    terminated = true;
    return real->RunOptionsSetTerminate(options);
}

static OrtStatusPtr ORT_API_CALL run(OrtSession *session, const OrtRunOptions *options, const char *const *input_names,
                                     const OrtValue *const *inputs, size_t input_count,
                                     const char *const *output_names, size_t output_count, OrtValue **outputs) {
    bool is_of_provider = is_providers(session, 1);
    bool is_waiting = is_of_provider && atomic_exchange(&waits, false);
    bool is_failing = is_waiting || (is_of_provider && fails);
    waiting = is_waiting;
    while (is_waiting && !terminated) usleep(1000);
    OrtStatusPtr status = is_failing ? real->CreateStatus(ORT_FAIL, message)
                                     : real->Run(session, options, input_names, inputs, input_count, output_names,
                                                 output_count, outputs);
    is_providers(session, -1);
    return status;
}

/// The provider's nodes are the CPU's in truth: better not to say.
static OrtStatusPtr ORT_API_CALL assignment(const OrtSession *session, const OrtEpAssignedSubgraph *const **list,
                                            size_t *count) {
    if (is_providers(session, 0)) return real->CreateStatus(ORT_NOT_IMPLEMENTED, "not in this build");
    return real->Session_GetEpGraphAssignmentInfo(session, list, count);
}

static const OrtApi *ORT_API_CALL get_api(uint32_t version) {
    real = library->GetApi(24);
    memcpy(&changed, real, sizeof changed);
    changed.CreateSessionOptions = create_options;
    changed.ReleaseSessionOptions = release_options;
    changed.SessionOptionsAppendExecutionProvider = append;
    changed.CreateSession = create;
    changed.CreateSessionFromArray = create_from_array;
    changed.ReleaseSession = release;
    changed.RunOptionsSetTerminate = terminate;
    changed.Run = run;
    changed.Session_GetEpGraphAssignmentInfo = assignment;
    return &changed;
}

static const char *ORT_API_CALL get_version(void) { return library->GetVersionString(); }

static const OrtApiBase base = {get_api, get_version};

const OrtApiBase *ORT_API_CALL OrtGetApiBase(void) {
    library = ((const OrtApiBase *(*)(void))dlsym(RTLD_NEXT, "OrtGetApiBase"))();
    return &base;
}
