// The thread of JavaScript: what React Native's scheduler is in an app.

#pragma once

#include <ReactCommon/CallInvoker.h>
#include <jsi/jsi.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace host {

/// Calls functions one after the other, in the order of the time they are due. Functions may come from any thread.
class Loop : public facebook::react::CallInvoker {
 public:
  using Clock = std::chrono::steady_clock;

  void invokeAsync(facebook::react::CallFunc&& function) noexcept override;
  void invokeSync(facebook::react::CallFunc&& function) override;

  /// Calls `function` later; the number names it for cancel().
  int after(std::chrono::milliseconds delay, facebook::react::CallFunc&& function);
  void cancel(int number);

  /// Until stop() is called.
  void run(facebook::jsi::Runtime& runtime);
  void stop();

  /// Drops all that waits and all that will come: there is no JavaScript any more.
  void close();

 private:
  struct Key {
    Clock::time_point due;
    int number;
    bool operator<(const Key& other) const { return std::tie(due, number) < std::tie(other.due, other.number); }
  };

  facebook::react::CallFunc next();
  int add(Clock::time_point due, facebook::react::CallFunc&& function);

  std::mutex mutex_;
  std::condition_variable hasChanged_;
  std::map<Key, facebook::react::CallFunc> waiting_;
  int last_ = 0;
  bool isStopped_ = false;
  bool isClosed_ = false;
};

}  // namespace host
