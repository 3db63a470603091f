// What JavaScript finds in the host beside the language itself.

#include "Globals.h"

#include <fcntl.h>
#include <jsi/instrumentation.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "Threads.h"

namespace host {

namespace jsi = facebook::jsi;

namespace {

using Arguments = const jsi::Value*;

template <typename Body>
void add(jsi::Runtime& runtime, jsi::Object& target, const char* name, const Body& body) {
  auto function = [body](jsi::Runtime& inner, const jsi::Value&, Arguments arguments, std::size_t) -> jsi::Value {
    return body(inner, arguments);
  };
  const auto id = jsi::PropNameID::forAscii(runtime, name);
  target.setProperty(runtime, name, jsi::Function::createFromHostFunction(runtime, id, 0, function));
}

std::string text(jsi::Runtime& runtime, const jsi::Value& value) { return value.toString(runtime).utf8(runtime); }

jsi::Value buffer(jsi::Runtime& runtime, const std::string& bytes) {
  const auto size = static_cast<double>(bytes.size());
  auto made = runtime.global().getPropertyAsFunction(runtime, "ArrayBuffer").callAsConstructor(runtime, size);
  const auto target = made.getObject(runtime).getArrayBuffer(runtime);
  std::copy(bytes.begin(), bytes.end(), target.data(runtime));
  return made;
}

/// Memory of this process that lies in the machine's, in bytes.
double residentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double threads() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double count = 0;
    if (word == "Threads:" && file >> count) return count;
  }
  throw std::runtime_error("/proc/self/status does not say how many threads there are");
}

void addTimers(jsi::Runtime& runtime, jsi::Object& global, const std::shared_ptr<Loop>& loop) {
  add(runtime, global, "setTimeout", [loop](jsi::Runtime& inner, Arguments arguments) {
    auto function = std::make_shared<jsi::Function>(arguments[0].asObject(inner).asFunction(inner));
    const auto delay = std::chrono::milliseconds(arguments[1].isNumber() ? static_cast<int>(arguments[1].getNumber()) : 0);
    return jsi::Value(loop->after(delay, [function](jsi::Runtime& later) { function->call(later); }));
  });
  add(runtime, global, "clearTimeout", [loop](jsi::Runtime&, Arguments arguments) {
    if (arguments[0].isNumber()) loop->cancel(static_cast<int>(arguments[0].getNumber()));
    return jsi::Value();
  });
}

void addFiles(jsi::Runtime& runtime, jsi::Object& host) {
  add(runtime, host, "read", [](jsi::Runtime& inner, Arguments arguments) {
    return buffer(inner, readText(text(inner, arguments[0])));
  });
  add(runtime, host, "readText", [](jsi::Runtime& inner, Arguments arguments) {
    return jsi::Value(jsi::String::createFromUtf8(inner, readText(text(inner, arguments[0]))));
  });
  add(runtime, host, "write", [](jsi::Runtime& inner, Arguments arguments) {
    const auto bytes = arguments[1].asObject(inner).getArrayBuffer(inner);
    std::ofstream file(text(inner, arguments[0]), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data(inner)), static_cast<std::streamsize>(bytes.size(inner)));
    if (!file.flush()) throw std::runtime_error("cannot write " + text(inner, arguments[0]));
    return jsi::Value();
  });
}

/// Descriptors, as native code of an app has them.
void addDescriptors(jsi::Runtime& runtime, jsi::Object& host) {
  add(runtime, host, "openDescriptor", [](jsi::Runtime& inner, Arguments arguments) {
    return jsi::Value(open(text(inner, arguments[0]).c_str(), O_RDONLY | O_CLOEXEC));
  });
  add(runtime, host, "closeDescriptor", [](jsi::Runtime&, Arguments arguments) {
    return jsi::Value(close(static_cast<int>(arguments[0].asNumber())));
  });
}

void addMachine(jsi::Runtime& runtime, jsi::Object& host) {
  add(runtime, host, "isNative", [](jsi::Runtime& inner, Arguments arguments) {
    [[maybe_unused]] const auto buffer = arguments[0].asObject(inner).getArrayBuffer(inner);
#if REACT_NATIVE >= 86
    return jsi::Value(buffer.tryGetMutableBuffer(inner) != nullptr);
#else
    return jsi::Value(false);  // no buffer tells
#endif
  });
  add(runtime, host, "address", [](jsi::Runtime& inner, Arguments arguments) {
    const auto buffer = arguments[0].asObject(inner).getArrayBuffer(inner);
    return jsi::Value(static_cast<double>(reinterpret_cast<std::uintptr_t>(buffer.data(inner))));
  });
  add(runtime, host, "collectGarbage", [](jsi::Runtime& inner, Arguments) {
    inner.instrumentation().collectGarbage("a test");
    return jsi::Value();
  });
  add(runtime, host, "residentBytes", [](jsi::Runtime&, Arguments) { return jsi::Value(residentBytes()); });
  add(runtime, host, "threads", [](jsi::Runtime&, Arguments) { return jsi::Value(threads()); });
  add(runtime, host, "sleep", [](jsi::Runtime&, Arguments arguments) {
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(arguments[0].getNumber())));
    return jsi::Value();
  });
  add(runtime, host, "now", [](jsi::Runtime&, Arguments) {
    const auto since = Loop::Clock::now().time_since_epoch();
    return jsi::Value(std::chrono::duration<double, std::milli>(since).count());
  });
}

/// Threads of worklets.
void addThreads(jsi::Runtime& runtime, jsi::Object& host) {
  const auto threads = std::make_shared<Threads>();
  add(runtime, host, "startThread", [threads](jsi::Runtime& inner, Arguments arguments) {
    auto object = arguments[0].asObject(inner).asHostObject(inner);
    return jsi::Value(threads->start(std::move(object), text(inner, arguments[1])));
  });
  add(runtime, host, "joinThread", [threads](jsi::Runtime& inner, Arguments arguments) {
    const auto result = threads->join(static_cast<int>(arguments[0].asNumber()));
    return jsi::Value(jsi::String::createFromUtf8(inner, result));
  });
}

void addEnding(jsi::Runtime& runtime, jsi::Object& host, const std::shared_ptr<Loop>& loop, Ending& ending) {
  add(runtime, host, "exit", [loop, &ending](jsi::Runtime&, Arguments arguments) {
    ending.code = static_cast<int>(arguments[0].asNumber());
    loop->stop();
    return jsi::Value();
  });
  add(runtime, host, "reload", [loop, &ending](jsi::Runtime& inner, Arguments arguments) {
    ending.next = text(inner, arguments[0]);
    loop->stop();
    return jsi::Value();
  });
}

}  // namespace

void addGlobals(
    jsi::Runtime& runtime, const std::shared_ptr<Loop>& loop, const std::vector<std::string>& arguments,
    Ending& ending) {
  auto global = runtime.global();
  addTimers(runtime, global, loop);
  jsi::Object console(runtime);
  for (const auto* level : {"log", "info", "warn", "error", "debug"}) {
    add(runtime, console, level, [](jsi::Runtime& inner, Arguments values) {
      std::cout << text(inner, values[0]) << std::endl;
      return jsi::Value();
    });
  }
  global.setProperty(runtime, "console", console);
  jsi::Object host(runtime);
  addFiles(runtime, host);
  addDescriptors(runtime, host);
  addMachine(runtime, host);
  addThreads(runtime, host);
  addEnding(runtime, host, loop, ending);
  jsi::Array given(runtime, arguments.size());
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    given.setValueAtIndex(runtime, index, jsi::String::createFromUtf8(runtime, arguments[index]));
  }
  host.setProperty(runtime, "arguments", given);
  global.setProperty(runtime, "host", host);
}

std::string readText(const std::string& path) {
  // At once: nothing here is optimized, and a script has hundreds of thousands of characters.
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string whole(static_cast<std::size_t>(file.tellg()), 0);
  file.seekg(0).read(whole.data(), static_cast<std::streamsize>(whole.size()));
  if (!file) throw std::runtime_error("cannot read all of " + path);
  return whole;
}

}  // namespace host
