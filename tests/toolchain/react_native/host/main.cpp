// Runs the JavaScript of a package with its C++, in JavaScriptCore, as a React Native app does.
//
// `host SCRIPT ARGUMENTS...` ends when the script calls host.exit(code). The package's TurboModule is found as in an app:
// by React Native's own registry of modules. HOST_ENGINE=lending asks for an engine that has native memory, as Hermes.

#include <ReactCommon/TurboModuleBinding.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <tuple>

#include "Engine.h"
#include "Globals.h"
#include "Loop.h"
#include "Package.h"

namespace jsi = facebook::jsi;
namespace react = facebook::react;

namespace {

#if REACT_NATIVE < 84
using Provider = react::TurboModuleProviderFunctionType;
#else
using Provider = react::TurboModuleProviderFunctionTypeWithRuntime;
#endif

void installModules(jsi::Runtime& runtime, const std::shared_ptr<host::Loop>& loop) {
  Provider provide = [loop, module = std::shared_ptr<react::TurboModule>()](
                         const auto&... arguments) mutable -> std::shared_ptr<react::TurboModule> {
    const auto& name = std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
    if (name != HOST_MODULE::kModuleName) return nullptr;
    if (!module) module = std::make_shared<HOST_MODULE>(loop);
    return module;
  };
  react::TurboModuleBinding::install(runtime, std::move(provide), Provider());
}

std::unique_ptr<jsi::Runtime> makeEngine() {
  const auto* name = std::getenv("HOST_ENGINE");
  if (name == nullptr || name == std::string_view("plain")) return host::makePlainEngine();
  if (name == std::string_view("lending")) return host::makeLendingEngine();
  throw std::runtime_error(std::string("no engine is called ") + name);
}

/// One JavaScript, from its beginning to its end.
host::Ending runScript(const std::string& script, const std::vector<std::string>& arguments) {
  host::Ending ending;
  const auto loop = std::make_shared<host::Loop>();
  auto runtime = makeEngine();
  try {
    host::addGlobals(*runtime, loop, arguments, ending);
    installModules(*runtime, loop);
    runtime->evaluateJavaScript(std::make_shared<jsi::StringBuffer>(host::readText(script)), script);
    loop->run(*runtime);
  } catch (const jsi::JSError& error) {
    std::cerr << error.getMessage() << "\n" << error.getStack() << std::endl;
    ending = {1, ""};
  }
  loop->close();
  runtime.reset();
  return ending;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: " << words[0] << " SCRIPT ARGUMENTS..." << std::endl;
    return 2;
  }
  try {
    auto ending = runScript(words[1], {words + 2, words + count});
    while (!ending.next.empty()) ending = runScript(words[1], {ending.next});
    // Without the destructors of libraries, whose order nobody knows: apps do not end like this either.
    std::cout.flush();
    _exit(ending.code);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    _exit(1);
  }
}
