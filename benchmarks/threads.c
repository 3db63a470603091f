// Runs a model through ONNX Runtime's C API, with threads of the process or of each session, which spin or do not.
//
//     threads MODEL INPUT SIZES THREADS SHARED SPINNING MODELS RUNS PAUSE_US
//
// SIZES are parted by commas, the input is of floats. MODELS sessions run in turn, with a pause after each run, RUNS
// times. Prints the latency of every run and the processor time of all of them, in microseconds.

#define _DEFAULT_SOURCE

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "onnxruntime_c_api.h"

enum { MOST_MODELS = 16, MOST_SIZES = 8 };

static const OrtApi *api;

static void must(OrtStatus *status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  exit(1);
}

static double microseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static OrtEnv *environment(int threads, int is_shared, int is_spinning) {
  OrtEnv *made;
  if (!is_shared) {
    must(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "threads", &made));
    return made;
  }
  OrtThreadingOptions *options;
  must(api->CreateThreadingOptions(&options));
  must(api->SetGlobalIntraOpNumThreads(options, threads));
  must(api->SetGlobalInterOpNumThreads(options, 1));
  must(api->SetGlobalSpinControl(options, is_spinning));
  must(api->CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_WARNING, "threads", options, &made));
  return made;
}

static OrtSession *session(OrtEnv *owner, const char *model, int threads, int is_shared, int is_spinning) {
  OrtSessionOptions *options;
  OrtSession *made;
  must(api->CreateSessionOptions(&options));
  if (is_shared) {
    must(api->DisablePerSessionThreads(options));
  } else {
    must(api->SetIntraOpNumThreads(options, threads));
  }
  must(api->AddSessionConfigEntry(options, "session.intra_op.allow_spinning", is_spinning ? "1" : "0"));
  must(api->CreateSession(owner, model, options, &made));
  return made;
}

static OrtValue *zeros(const char *sizes) {
  int64_t shape[MOST_SIZES];
  size_t count = 0, bytes = sizeof(float);
  for (char *rest = (char *)sizes; *rest && count < MOST_SIZES; rest += *rest == ',') {
    shape[count] = strtol(rest, &rest, 10);
    bytes *= (size_t)shape[count++];
  }
  OrtMemoryInfo *memory;
  OrtValue *made;
  must(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
  must(api->CreateTensorWithDataAsOrtValue(
      memory, calloc(1, bytes), bytes, shape, count, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &made));
  return made;
}

static char *output_of(OrtSession *session) {
  OrtAllocator *allocator;
  char *name;
  must(api->GetAllocatorWithDefaultOptions(&allocator));
  must(api->SessionGetOutputName(session, 0, allocator, &name));
  return name;
}

static double run(OrtSession *session, const char *input, const OrtValue *value, const char *output) {
  OrtValue *result = NULL;
  double start = microseconds(CLOCK_MONOTONIC);
  must(api->Run(session, NULL, &input, &value, 1, &output, 1, &result));
  double took = microseconds(CLOCK_MONOTONIC) - start;
  api->ReleaseValue(result);
  return took;
}

int main(int count, char **arguments) {
  if (count != 10) return 2;
  api = OrtGetApiBase()->GetApi(17);
  const char *model = arguments[1], *input = arguments[2];
  int threads = atoi(arguments[4]), is_shared = atoi(arguments[5]), is_spinning = atoi(arguments[6]);
  int models = atoi(arguments[7]), runs = atoi(arguments[8]), pause_us = atoi(arguments[9]);
  OrtEnv *owner = environment(threads, is_shared, is_spinning);
  OrtSession *sessions[MOST_MODELS];
  for (int number = 0; number < models; number++) {
    sessions[number] = session(owner, model, threads, is_shared, is_spinning);
  }
  OrtValue *value = zeros(arguments[3]);
  char *output = output_of(sessions[0]);
  for (int number = 0; number < models; number++) run(sessions[number], input, value, output);
  double before = microseconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int number = 0; number < runs; number++) {
    printf("%.0f\n", run(sessions[number % models], input, value, output));
    if (pause_us) usleep(pause_us);
  }
  printf("cpu %.0f\n", microseconds(CLOCK_PROCESS_CPUTIME_ID) - before);
  return 0;
}
