// The engines that run JavaScript in the host.

#pragma once

#include <jsi/jsi.h>

#include <memory>

namespace host {

/// JavaScriptCore as React Native has it, which knows no memory but its own.
std::unique_ptr<facebook::jsi::Runtime> makePlainEngine();

/// JavaScriptCore that has ArrayBuffers over native memory too, and finds that again, as Hermes does.
std::unique_ptr<facebook::jsi::Runtime> makeLendingEngine();

}  // namespace host
