// Stands before the system's library in a host: variables of the environment name files that say what it does.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

bool isThere(const char* variable) {
  const char* path = std::getenv(variable);
  return path != nullptr && access(path, F_OK) == 0;
}

}  // namespace

/// No thread begins while the file NO_THREADS is there.
extern "C" int pthread_create(
    pthread_t* made, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return isThere("NO_THREADS") ? EAGAIN : real(made, attributes, work, argument);
}

/// Makes the file WAITING, and waits until there is a file GO: for a minute at most.
extern "C" int fsync(int descriptor) {
  if (const char* waiting = std::getenv("WAITING")) {
    std::fclose(std::fopen(waiting, "w"));
    for (int each = 0; !isThere("GO"); ++each) {
      if (each == 6000) std::abort();
      usleep(10000);
    }
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

/// Writes to the file PRIORITIES whether a thread other than the first asked for itself, and for what.
extern "C" int setpriority(__priority_which_t which, id_t who, int priority) noexcept {
  if (const char* path = std::getenv("PRIORITIES")) {
    const bool isOwn = which == PRIO_PROCESS && who == 0 && syscall(SYS_gettid) != getpid();
    auto* file = std::fopen(path, "a");
    std::fprintf(file, "%s %d\n", isOwn ? "own" : "other", priority);
    std::fclose(file);
  }
  return 0;
}
