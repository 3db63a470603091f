// Tells Kotlin which execution provider of ONNX Runtime took which node of a model. Neither ONNX Runtime's Java classes
// nor any other way that Java has says so, only the C API.
//
// READ is the name of the function to Java. Nothing here needs a C library.

#include <jni.h>
#include <onnxruntime_c_api.h>

enum { OLDEST_API = 24 };  // the first with Session_GetEpGraphAssignmentInfo

// A byte array to write to, or only the number of bytes so far where there is no array yet.
typedef struct {
  JNIEnv *env;
  jbyteArray bytes;
  int32_t length;
} Writer;

static int failed(const OrtApi *api, OrtStatus *status) {
  if (status) api->ReleaseStatus(status);
  return status != 0;
}

// Writes a text and the zero at its end.
static void write(Writer *writer, const char *text) {
  int32_t length = 0;
  while (text[length++]) {
  }
  if (writer->bytes) {
    (*writer->env)->SetByteArrayRegion(writer->env, writer->bytes, writer->length, length, (const int8_t *)text);
  }
  writer->length += length;
}

// Writes the name of the provider before the name of each of its nodes.
static int write_nodes(const OrtApi *api, const OrtEpAssignedSubgraph *part, Writer *writer) {
  const char *provider, *name;
  const OrtEpAssignedNode *const *nodes;
  size_t count;
  if (failed(api, api->EpAssignedSubgraph_GetEpName(part, &provider))) return 0;
  if (failed(api, api->EpAssignedSubgraph_GetNodes(part, &nodes, &count))) return 0;
  for (size_t number = 0; number < count; number++) {
    if (failed(api, api->EpAssignedNode_GetName(nodes[number], &name))) return 0;
    write(writer, provider);
    write(writer, name);
  }
  return 1;
}

static int write_all(const OrtApi *api, const OrtSession *session, Writer *writer) {
  const OrtEpAssignedSubgraph *const *parts;
  size_t count;
  if (failed(api, api->Session_GetEpGraphAssignmentInfo(session, &parts, &count))) return 0;
  for (size_t number = 0; number < count; number++) {
    if (!write_nodes(api, parts[number], writer)) return 0;
  }
  return 1;
}

// Pairs of provider and node, each text with a zero at its end; null where ONNX Runtime cannot tell.
__attribute__((visibility("default"))) jbyteArray READ(JNIEnv *env, jclass owner, int64_t session) {
  (void)owner;
  const OrtApi *api = OrtGetApiBase()->GetApi(OLDEST_API);
  Writer writer = {.env = env};
  if (!api || !write_all(api, (const OrtSession *)(intptr_t)session, &writer)) return 0;
  writer.bytes = (*env)->NewByteArray(env, writer.length);
  writer.length = 0;
  return writer.bytes && write_all(api, (const OrtSession *)(intptr_t)session, &writer) ? writer.bytes : 0;
}
