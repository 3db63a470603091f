// Android's Neural Networks API as a dry run: it takes every model, so that what ONNX Runtime's NNAPI provider hands
// over is decided by that provider alone. It computes nothing: outputs stay as they are.
//
// Names, numbers and signatures are those of android/NeuralNetworks.h of the NDK. The environment variable
// NNAPI_FEATURE_LEVEL (27 is Android 8.1, 31 is Android 12) says what device and runtime can do.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { NO_ERROR = 0, OUT_OF_MEMORY = 1, UNEXPECTED_NULL = 3, BAD_DATA = 4 };
enum { DEVICE_CPU = 2, DEVICE_ACCELERATOR = 4 };
enum { NEWEST_FEATURE_LEVEL = 31 };

// What ONNX Runtime holds on to: only a model has content.
typedef struct {
    uint32_t operations;
} Object;

// The second is the reference implementation that every phone has; the flag CPU_DISABLED leaves it out.
static const struct Device {
    const char *name;
    int32_t type;
} devices[] = {{"dry-run", DEVICE_ACCELERATOR}, {"nnapi-reference", DEVICE_CPU}};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static int create(Object **out) {
    if (!out) return UNEXPECTED_NULL;
    *out = calloc(1, sizeof **out);
    return *out ? NO_ERROR : OUT_OF_MEMORY;
}

// --- devices ---------------------------------------------------------------------------------------------------

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void) {
    const char *given = getenv("NNAPI_FEATURE_LEVEL");
    return given ? atoi(given) : NEWEST_FEATURE_LEVEL;
}

int ANeuralNetworks_getDeviceCount(uint32_t *count) {
    *count = DEVICES;
    return NO_ERROR;
}

int ANeuralNetworks_getDevice(uint32_t index, const struct Device **device) {
    if (index >= DEVICES) return BAD_DATA;
    *device = &devices[index];
    return NO_ERROR;
}

int ANeuralNetworksDevice_getName(const struct Device *device, const char **name) {
    *name = device->name;
    return NO_ERROR;
}

int ANeuralNetworksDevice_getType(const struct Device *device, int32_t *type) {
    *type = device->type;
    return NO_ERROR;
}

int ANeuralNetworksDevice_getVersion(const struct Device *device, const char **version) {
    (void)device;
    *version = "1";
    return NO_ERROR;
}

int ANeuralNetworksDevice_getFeatureLevel(const struct Device *device, int64_t *level) {
    (void)device;
    *level = ANeuralNetworks_getRuntimeFeatureLevel();
    return NO_ERROR;
}

// --- models ----------------------------------------------------------------------------------------------------

int ANeuralNetworksModel_create(Object **model) { return create(model); }

int ANeuralNetworksModel_addOperation(Object *model, int32_t type, uint32_t input_count, const uint32_t *inputs,
                                      uint32_t output_count, const uint32_t *outputs) {
    (void)type, (void)input_count, (void)inputs, (void)output_count, (void)outputs;
    model->operations++;
    return NO_ERROR;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const Object *model, const struct Device *const *chosen,
                                                          uint32_t count, bool *is_supported) {
    (void)chosen, (void)count;
    for (uint32_t index = 0; index < model->operations; index++) is_supported[index] = true;
    return NO_ERROR;
}

// --- compilations, executions and memory -------------------------------------------------------------------------

int ANeuralNetworksCompilation_create(Object *model, Object **compilation) {
    (void)model;
    return create(compilation);
}

int ANeuralNetworksCompilation_createForDevices(Object *model, const struct Device *const *chosen, uint32_t count,
                                                Object **compilation) {
    (void)model, (void)chosen, (void)count;
    return create(compilation);
}

int ANeuralNetworksExecution_create(Object *compilation, Object **execution) {
    (void)compilation;
    return create(execution);
}

int ANeuralNetworksBurst_create(Object *compilation, Object **burst) {
    (void)compilation;
    return create(burst);
}

int ANeuralNetworksExecution_startCompute(Object *execution, Object **event) {
    (void)execution;
    return create(event);
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protection, int descriptor, size_t offset, Object **memory) {
    (void)size, (void)protection, (void)descriptor, (void)offset;
    return create(memory);
}

int ANeuralNetworksMemory_createFromDesc(const Object *description, Object **memory) {
    (void)description;
    return create(memory);
}

int ANeuralNetworksMemoryDesc_create(Object **description) { return create(description); }

// --- what only has to succeed: the caller's arguments stay in their registers ------------------------------------

#define SUCCEEDS(name) \
    int ANeuralNetworks##name(void) { return NO_ERROR; }
SUCCEEDS(Model_addOperand)
SUCCEEDS(Model_setOperandValue)
SUCCEEDS(Model_setOperandValueFromMemory)
SUCCEEDS(Model_setOperandSymmPerChannelQuantParams)
SUCCEEDS(Model_identifyInputsAndOutputs)
SUCCEEDS(Model_relaxComputationFloat32toFloat16)
SUCCEEDS(Model_finish)
SUCCEEDS(Compilation_setPreference)
SUCCEEDS(Compilation_setCaching)
SUCCEEDS(Compilation_setPriority)
SUCCEEDS(Compilation_setTimeout)
SUCCEEDS(Compilation_finish)
SUCCEEDS(Execution_setInput)
SUCCEEDS(Execution_setInputFromMemory)
SUCCEEDS(Execution_setOutput)
SUCCEEDS(Execution_setOutputFromMemory)
SUCCEEDS(Execution_compute)
SUCCEEDS(Execution_getOutputOperandRank)
SUCCEEDS(Execution_getOutputOperandDimensions)
SUCCEEDS(Event_wait)

#define FREES(name) \
    void ANeuralNetworks##name##_free(Object *object) { free(object); }
FREES(Model)
FREES(Compilation)
FREES(Execution)
FREES(Burst)
FREES(Event)
FREES(Memory)
FREES(MemoryDesc)
