/* An execution provider that can lie, over ONNX Runtime's interface for plug-ins.
 *
 * It takes MatMul of two matrices of floats, and passes over zeros of the second one: with the weights of
 * tests/cases/liar.py it is many times faster than the CPU. Its option `behaviour` says how it lies. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "onnxruntime_c_api.h"

#define NAME "LiarExecutionProvider"
#define OPTION "ep.liarexecutionprovider.behaviour"
#define WITHOUT_DEVICE "liar-without-device" /* registered under this name, it finds no device */
#define TRY(call)                          \
  do {                                     \
    OrtStatus* failed = (call);            \
    if (failed != NULL) return failed;     \
  } while (0)

enum Behaviour { HONEST, REFUSE, FEW_NODES, WRONG, SLOW, CRASH, HANG };

static const struct { const char* name; enum Behaviour is; } BEHAVIOURS[] = {
    {"honest", HONEST}, {"refuse at load", REFUSE}, {"few nodes", FEW_NODES}, {"wrong by 1 %", WRONG},
    {"ten times slower", SLOW}, {"crash in the third run", CRASH}, {"hang", HANG},
};

typedef struct { OrtEpFactory base; bool has_device; } Factory;
typedef struct { OrtEp base; enum Behaviour behaviour; atomic_int runs; } Provider;
typedef struct { OrtNodeComputeInfo base; Provider* provider; bool is_first; } Product;

/* The numbers of a matrix that are not zero, row by row. */
typedef struct { int64_t row, column; float number; } Entry;
typedef struct { Entry* entries; size_t count; const float* of; } Sparse;

static const OrtApi* ort;
static const OrtEpApi* ep_api;

static void milliseconds(long duration) {
  struct timespec time = {duration / 1000, duration % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static OrtStatus* matrix(const OrtValue* value, int64_t size[2]) {
  OrtTensorTypeAndShapeInfo* info;
  TRY(ort->GetTensorTypeAndShape(value, &info));
  size_t count;
  OrtStatus* status = ort->GetDimensionsCount(info, &count);
  if (status == NULL && count != 2) status = ort->CreateStatus(ORT_FAIL, "the liar multiplies matrices alone");
  if (status == NULL) status = ort->GetDimensions(info, size, 2);
  ort->ReleaseTensorTypeAndShapeInfo(info);
  return status;
}

static void find(Sparse* sparse, const float* numbers, const int64_t size[2]) {
  if (sparse->of == numbers) return;
  free(sparse->entries);
  sparse->entries = malloc(sizeof(Entry) * (size_t)(size[0] * size[1] + 1));
  sparse->count = 0;
  sparse->of = numbers;
  for (int64_t row = 0; row < size[0]; row++)
    for (int64_t column = 0; column < size[1]; column++) {
      float number = numbers[row * size[1] + column];
      if (number != 0) sparse->entries[sparse->count++] = (Entry){row, column, number};
    }
}

static OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* this_ptr, void* state, OrtKernelContext* context) {
  Product* product = (Product*)this_ptr;
  enum Behaviour behaviour = product->provider->behaviour;
  const OrtValue *left, *right;
  OrtValue* result;
  int64_t rows[2], columns[2];
  const float *a, *b;
  float* c;
  TRY(ort->KernelContext_GetInput(context, 0, &left));
  TRY(ort->KernelContext_GetInput(context, 1, &right));
  TRY(matrix(left, rows));
  TRY(matrix(right, columns));
  int64_t size[2] = {rows[0], columns[1]};
  TRY(ort->KernelContext_GetOutput(context, 0, size, 2, &result));
  TRY(ort->GetTensorMutableData((OrtValue*)left, (void**)&a));
  TRY(ort->GetTensorMutableData((OrtValue*)right, (void**)&b));
  TRY(ort->GetTensorMutableData(result, (void**)&c));

  if (product->is_first && atomic_fetch_add(&product->provider->runs, 1) == 2 && behaviour == CRASH) abort();
  while (behaviour == HANG) milliseconds(1000); /* nothing ends it */
  if (behaviour == SLOW) milliseconds(50);      /* the CPU needs a millisecond or two for the whole model */

  Sparse* sparse = state;
  find(sparse, b, columns);
  memset(c, 0, sizeof(float) * (size_t)(size[0] * size[1]));
  for (int64_t row = 0; row < rows[0]; row++)
    for (size_t i = 0; i < sparse->count; i++) {
      Entry each = sparse->entries[i];
      c[row * size[1] + each.column] += a[row * rows[1] + each.row] * each.number;
    }
  if (behaviour == WRONG && product->is_first)
    for (int64_t i = 0; i < size[0] * size[1]; i++) c[i] *= 1.01f;
  return NULL;
}

static OrtStatus* ORT_API_CALL create_state(OrtNodeComputeInfo* this_ptr, OrtNodeComputeContext* context, void** state) {
  (void)this_ptr, (void)context;
  *state = calloc(1, sizeof(Sparse));
  return NULL;
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo* this_ptr, void* state) {
  (void)this_ptr;
  free(((Sparse*)state)->entries);
  free(state);
}

static OrtStatus* take(Provider* provider, const OrtNode* const* nodes, size_t count, OrtEpGraphSupportInfo* support) {
  for (size_t i = 0; i < count; i++) {
    const char* op;
    TRY(ort->Node_GetOperatorType(nodes[i], &op));
    if (strcmp(op, "MatMul") != 0) continue;
    TRY(ep_api->EpGraphSupportInfo_AddNodesToFuse(support, &nodes[i], 1, NULL));
    if (provider->behaviour == FEW_NODES) break;
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL get_capability(OrtEp* this_ptr, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  size_t count;
  TRY(ort->Graph_GetNumNodes(graph, &count));
  const OrtNode** nodes = calloc(count + 1, sizeof(*nodes));
  OrtStatus* status = ort->Graph_GetNodes(graph, nodes, count);
  if (status == NULL) status = take((Provider*)this_ptr, nodes, count, support);
  free(nodes);
  return status;
}

static OrtStatus* ORT_API_CALL compile(OrtEp* this_ptr, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                                       OrtNodeComputeInfo** infos, OrtNode** context_nodes) {
  (void)graphs, (void)fused, (void)context_nodes;
  for (size_t i = 0; i < count; i++) {
    Product* product = calloc(1, sizeof(*product));
    product->base = (OrtNodeComputeInfo){
        .ort_version_supported = ORT_API_VERSION,
        .CreateState = create_state,
        .Compute = compute,
        .ReleaseState = release_state,
    };
    product->provider = (Provider*)this_ptr;
    product->is_first = i == 0;
    infos[i] = &product->base;
  }
  return NULL;
}

static void ORT_API_CALL release_infos(OrtEp* this_ptr, OrtNodeComputeInfo** infos, size_t count) {
  (void)this_ptr;
  for (size_t i = 0; i < count; i++) free(infos[i]);
}

static const char* ORT_API_CALL name_of_provider(const OrtEp* this_ptr) {
  (void)this_ptr;
  return NAME;
}

static const char* ORT_API_CALL name(const OrtEpFactory* this_ptr) {
  (void)this_ptr;
  return NAME;
}

static const char* ORT_API_CALL vendor(const OrtEpFactory* this_ptr) {
  (void)this_ptr;
  return "mobpack";
}

static uint32_t ORT_API_CALL vendor_id(const OrtEpFactory* this_ptr) {
  (void)this_ptr;
  return 0;
}

static const char* ORT_API_CALL version(const OrtEpFactory* this_ptr) {
  (void)this_ptr;
  return "1.0.0";
}

static OrtStatus* ORT_API_CALL supported_devices(OrtEpFactory* this_ptr, const OrtHardwareDevice* const* devices,
                                                 size_t count, OrtEpDevice** found, size_t most, size_t* found_count) {
  *found_count = 0;
  for (size_t i = 0; i < count && *found_count < most && ((Factory*)this_ptr)->has_device; i++)
    if (ort->HardwareDevice_Type(devices[i]) == OrtHardwareDeviceType_CPU) {
      TRY(ep_api->CreateEpDevice(this_ptr, devices[i], NULL, NULL, &found[*found_count]));
      (*found_count)++;
    }
  return NULL;
}

static OrtStatus* ORT_API_CALL create_allocator(OrtEpFactory* this_ptr, const OrtMemoryInfo* memory,
                                                const OrtKeyValuePairs* options, OrtAllocator** allocator) {
  (void)this_ptr, (void)memory, (void)options;
  *allocator = NULL;
  return NULL;
}

static void ORT_API_CALL release_allocator(OrtEpFactory* this_ptr, OrtAllocator* allocator) {
  (void)this_ptr, (void)allocator;
}

static OrtStatus* ORT_API_CALL create_data_transfer(OrtEpFactory* this_ptr, OrtDataTransferImpl** transfer) {
  (void)this_ptr;
  *transfer = NULL;
  return NULL;
}

static bool ORT_API_CALL is_stream_aware(const OrtEpFactory* this_ptr) {
  (void)this_ptr;
  return false;
}

static OrtStatus* behaviour_in(const OrtSessionOptions* options, enum Behaviour* behaviour) {
  char text[64] = "honest";
  size_t size = sizeof(text);
  int is_set;
  TRY(ort->HasSessionConfigEntry(options, OPTION, &is_set));
  if (is_set) TRY(ort->GetSessionConfigEntry(options, OPTION, text, &size));
  for (size_t i = 0; i < sizeof(BEHAVIOURS) / sizeof(*BEHAVIOURS); i++)
    if (strcmp(text, BEHAVIOURS[i].name) == 0) {
      *behaviour = BEHAVIOURS[i].is;
      return NULL;
    }
  return ort->CreateStatus(ORT_INVALID_ARGUMENT, "the liar has no such behaviour");
}

static OrtStatus* ORT_API_CALL create(OrtEpFactory* this_ptr, const OrtHardwareDevice* const* devices,
                                      const OrtKeyValuePairs* const* metadata, size_t count,
                                      const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** made) {
  (void)this_ptr, (void)devices, (void)metadata, (void)count, (void)logger;
  enum Behaviour behaviour = HONEST;
  TRY(behaviour_in(options, &behaviour));
  if (behaviour == REFUSE) return ort->CreateStatus(ORT_EP_FAIL, "the liar does not want to start");
  Provider* provider = calloc(1, sizeof(*provider));
  provider->base = (OrtEp){
      .ort_version_supported = ORT_API_VERSION,
      .GetName = name_of_provider,
      .GetCapability = get_capability,
      .Compile = compile,
      .ReleaseNodeComputeInfos = release_infos,
  };
  provider->behaviour = behaviour;
  *made = &provider->base;
  return NULL;
}

static void ORT_API_CALL release(OrtEpFactory* this_ptr, OrtEp* ep) {
  (void)this_ptr;
  free(ep);
}

ORT_EXPORT OrtStatus* CreateEpFactories(const char* registered_name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t most, size_t* count) {
  (void)logger, (void)most;
  ort = base->GetApi(ORT_API_VERSION);
  ep_api = ort->GetEpApi();
  Factory* factory = calloc(1, sizeof(*factory));
  factory->base = (OrtEpFactory){
      .ort_version_supported = ORT_API_VERSION,
      .GetName = name,
      .GetVendor = vendor,
      .GetSupportedDevices = supported_devices,
      .CreateEp = create,
      .ReleaseEp = release,
      .GetVendorId = vendor_id,
      .GetVersion = version,
      .CreateAllocator = create_allocator,
      .ReleaseAllocator = release_allocator,
      .CreateDataTransfer = create_data_transfer,
      .IsStreamAware = is_stream_aware,
  };
  factory->has_device = strcmp(registered_name, WITHOUT_DEVICE) != 0;
  factories[0] = &factory->base;
  *count = 1;
  return NULL;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  free(factory);
  return NULL;
}
