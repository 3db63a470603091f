#pragma once

#include <ReactCommon/TurboModule.h>

namespace facebook::react {

/** As much of React Native's class as generated code names: the real one is made of fbjni's, which no registry has. */
class JavaTurboModule : public TurboModule {
 public:
  struct InitParams {
    std::string moduleName;
    std::shared_ptr<CallInvoker> jsInvoker;
  };
  JavaTurboModule(const InitParams& params);
};

} // namespace facebook::react
