// What JavaScript finds in the host beside the language itself.

#pragma once

#include <jsi/jsi.h>

#include <memory>
#include <string>
#include <vector>

#include "Loop.h"

namespace host {

/// How a script ended.
struct Ending {
  int code = 0;
  /// What the script gets as its argument in a new JavaScript, in the same process; empty for none.
  std::string next;
};

/// Adds `console`, timers, and `host`: what a test needs of the machine.
void addGlobals(
    facebook::jsi::Runtime& runtime, const std::shared_ptr<Loop>& loop, const std::vector<std::string>& arguments,
    Ending& ending);

std::string readText(const std::string& path);

}  // namespace host
