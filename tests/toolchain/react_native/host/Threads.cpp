// Other threads with a JavaScript of their own, as libraries for worklets have them.

#include "Threads.h"

#include <utility>

#include "Engine.h"

namespace host {

namespace jsi = facebook::jsi;

namespace {

std::string run(std::shared_ptr<jsi::HostObject> object, const std::string& script) {
  const auto runtime = makePlainEngine();
  try {
    runtime->global().setProperty(*runtime, "model", jsi::Object::createFromHostObject(*runtime, std::move(object)));
    const auto result = runtime->evaluateJavaScript(std::make_shared<jsi::StringBuffer>(script), "worklet.js");
    return result.toString(*runtime).utf8(*runtime);
  } catch (const jsi::JSError& error) {
    return "failed: " + error.getMessage();
  }
}

}  // namespace

int Threads::start(std::shared_ptr<jsi::HostObject> object, const std::string& script) {
  const int number = static_cast<int>(running_.size());
  running_.emplace(number, std::async(std::launch::async, run, std::move(object), script));
  return number;
}

std::string Threads::join(int number) { return running_.at(number).get(); }

}  // namespace host
