// The thread of JavaScript: what React Native's scheduler is in an app.

#include "Loop.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace host {

namespace react = facebook::react;

void Loop::invokeAsync(react::CallFunc&& function) noexcept { add(Clock::now(), std::move(function)); }

void Loop::invokeSync(react::CallFunc&&) { throw std::logic_error("nothing here calls JavaScript and waits"); }

int Loop::after(std::chrono::milliseconds delay, react::CallFunc&& function) {
  return add(Clock::now() + delay, std::move(function));
}

void Loop::cancel(int number) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [number](const auto& each) { return each.first.number == number; });
}

void Loop::run(facebook::jsi::Runtime& runtime) {
  while (auto function = next()) function(runtime);
}

void Loop::stop() {
  const std::lock_guard lock(mutex_);
  isStopped_ = true;
}

void Loop::close() {
  std::map<Key, react::CallFunc> dropped;
  const std::lock_guard lock(mutex_);
  isClosed_ = true;
  std::swap(dropped, waiting_);
}

react::CallFunc Loop::next() {
  std::unique_lock lock(mutex_);
  while (!isStopped_) {
    if (waiting_.empty()) {
      hasChanged_.wait(lock);
      continue;
    }
    const auto due = waiting_.begin()->first.due;
    if (due <= Clock::now()) return std::move(waiting_.extract(waiting_.begin()).mapped());
    hasChanged_.wait_until(lock, due);
  }
  return nullptr;
}

int Loop::add(Clock::time_point due, react::CallFunc&& function) {
  const std::lock_guard lock(mutex_);
  const int number = ++last_;
  if (!isClosed_) waiting_.emplace(Key{due, number}, std::move(function));
  hasChanged_.notify_one();
  return number;
}

}  // namespace host
