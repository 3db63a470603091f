/* Runs an ORT-format model with one float input and one float output: run_model MODEL INPUT OUTPUT SIZE...
 *
 * INPUT and OUTPUT are files of raw numbers, SIZE... the input's shape. Prints the version of ONNX Runtime; a failure
 * prints ONNX Runtime's words and ends with exit code 1. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "onnxruntime_c_api.h"

static const OrtApi *api;

static void check(OrtStatus *status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  exit(1);
}

static void *content(const char *path, size_t size_bytes) {
  void *bytes = malloc(size_bytes);
  FILE *file = fopen(path, "rb");
  if (bytes == NULL || file == NULL || fread(bytes, 1, size_bytes, file) != size_bytes) {
    fprintf(stderr, "%s: fewer than %zu bytes\n", path, size_bytes);
    exit(1);
  }
  fclose(file);
  return bytes;
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  const OrtApiBase *base = OrtGetApiBase();
  api = base->GetApi(ORT_API_VERSION);
  printf("%s\n", base->GetVersionString());

  int64_t shape[8];
  size_t dimensions = 0, size_bytes = sizeof(float);
  for (int i = 4; i < count && dimensions < 8; i++) {
    shape[dimensions] = atoll(arguments[i]);
    size_bytes *= (size_t)shape[dimensions++];
  }

  OrtEnv *environment;
  OrtSessionOptions *options;
  OrtSession *session;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "run_model", &environment));
  check(api->CreateSessionOptions(&options));
  check(api->SetIntraOpNumThreads(options, 1));
  check(api->CreateSession(environment, arguments[1], options, &session));

  OrtAllocator *allocator;
  OrtMemoryInfo *memory;
  OrtValue *input, *output = NULL;
  char *input_name, *output_name;
  check(api->GetAllocatorWithDefaultOptions(&allocator));
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(api->SessionGetInputName(session, 0, allocator, &input_name));
  check(api->SessionGetOutputName(session, 0, allocator, &output_name));
  check(api->CreateTensorWithDataAsOrtValue(memory, content(arguments[2], size_bytes), size_bytes, shape, dimensions,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  check(api->Run(session, NULL, (const char *const *)&input_name, (const OrtValue *const *)&input, 1,
                 (const char *const *)&output_name, 1, &output));

  OrtTensorTypeAndShapeInfo *info;
  size_t elements;
  void *numbers;
  check(api->GetTensorTypeAndShape(output, &info));
  check(api->GetTensorShapeElementCount(info, &elements));
  check(api->GetTensorMutableData(output, &numbers));
  FILE *file = fopen(arguments[3], "wb");
  if (file == NULL || fwrite(numbers, sizeof(float), elements, file) != elements || fclose(file) != 0) return 1;
  return 0;
}
