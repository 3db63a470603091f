// The part of Java's Native Interface that assignment.c uses; the numbers are those of the functions in the table
// (https://docs.oracle.com/en/java/javase/21/docs/specs/jni/functions.html).

#include <stdint.h>

typedef struct Class *jclass;
typedef struct ByteArray *jbyteArray;
typedef const struct Functions *JNIEnv;

enum { NEW_BYTE_ARRAY = 176, SET_BYTE_ARRAY_REGION = 208 };

struct Functions {
  void *before[NEW_BYTE_ARRAY];
  jbyteArray (*NewByteArray)(JNIEnv *env, int32_t length);
  void *between[SET_BYTE_ARRAY_REGION - NEW_BYTE_ARRAY - 1];
  void (*SetByteArrayRegion)(JNIEnv *env, jbyteArray array, int32_t start, int32_t length, const int8_t *bytes);
};
