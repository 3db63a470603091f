// Other threads with a JavaScript of their own, as libraries for worklets have them.

#pragma once

#include <jsi/jsi.h>

#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <string>

namespace host {

/// Scripts that run away from JavaScript's thread, each in an engine of its own.
class Threads {
 public:
  /// Runs a script that finds `object` as the global `model`, on a new thread. Gives the thread's number.
  int start(std::shared_ptr<facebook::jsi::HostObject> object, const std::string& script);

  /// Waits for a thread: the text that its script gave, or what went wrong.
  std::string join(int number);

 private:
  std::map<int, std::future<std::string>> running_;
};

}  // namespace host
