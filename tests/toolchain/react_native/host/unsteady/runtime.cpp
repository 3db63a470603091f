// ONNX Runtime, the library REAL_RUNTIME, of which no session starts while the file REFUSED is there: it says WORDS.
// The file RELEASED gets the name of the thread that has released a session: `first` or `other`.

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "onnxruntime/onnxruntime_c_api.h"

namespace {

constexpr std::uint32_t replaced = 15;
OrtApi table;

const OrtApiBase& real() {
  static const auto& base = *[] {
    auto* library = dlopen(std::getenv("REAL_RUNTIME"), RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<decltype(&OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"))();
  }();
  return base;
}

OrtStatus* create(
    const OrtEnv* environment, const void* model, std::size_t size, const OrtSessionOptions* options,
    OrtSession** made) noexcept {
  if (access(std::getenv("REFUSED"), F_OK) == 0) return table.CreateStatus(ORT_FAIL, std::getenv("WORDS"));
  return real().GetApi(replaced)->CreateSessionFromArray(environment, model, size, options, made);
}

void release(OrtSession* session) noexcept {
  real().GetApi(replaced)->ReleaseSession(session);
  const char* path = std::getenv("RELEASED");
  if (path == nullptr) return;
  auto* file = std::fopen(path, "w");
  std::fputs(syscall(SYS_gettid) == getpid() ? "first" : "other", file);
  std::fclose(file);
}

const OrtApi* get(std::uint32_t version) noexcept {
  const auto* api = real().GetApi(version);
  if (version != replaced) return api;
  table = *api;
  table.CreateSessionFromArray = create;
  table.ReleaseSession = release;
  return &table;
}

const char* version() noexcept { return real().GetVersionString(); }

const OrtApiBase base{get, version};

}  // namespace

extern "C" const OrtApiBase* OrtGetApiBase() noexcept { return &base; }
