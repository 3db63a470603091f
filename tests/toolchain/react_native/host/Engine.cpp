// The engines that run JavaScript in the host.

#include "Engine.h"

// The class is in no header.
#include <JSCRuntime.cpp>
#include <map>
#include <utility>

namespace host {

namespace jsi = facebook::jsi;

namespace {

class LendingEngine : public facebook::jsc::JSCRuntime {
 public:
  jsi::ArrayBuffer createArrayBuffer(std::shared_ptr<jsi::MutableBuffer> memory) override {
    if (lent_.size() > most_) {
      std::erase_if(lent_, [](const auto& each) { return each.second.expired(); });
      most_ = 2 * lent_.size() + 100;
    }
    lent_[memory->data()] = memory;
    auto* owner = new std::shared_ptr<jsi::MutableBuffer>(memory);
    // Called by the collector of garbage on whatever thread it has.
    const auto release = [](void*, void* given) { delete static_cast<std::shared_ptr<jsi::MutableBuffer>*>(given); };
    JSValueRef failed = nullptr;
    auto* made = JSObjectMakeArrayBufferWithBytesNoCopy(
        getContext(), memory->data(), memory->size(), release, owner, &failed);
    if (failed != nullptr) throw jsi::JSError(*this, createValue(failed));
    return createValue(made).getObject(*this).getArrayBuffer(*this);
  }

#if REACT_NATIVE >= 86
  std::shared_ptr<jsi::MutableBuffer> tryGetMutableBuffer(const jsi::ArrayBuffer& buffer) override {
    const auto found = lent_.find(data(buffer));
    return found == lent_.end() ? nullptr : found->second.lock();
  }
#endif

 private:
  /// By their first byte.
  std::map<const std::uint8_t*, std::weak_ptr<jsi::MutableBuffer>> lent_;
  /// Before those that are gone are looked for.
  std::size_t most_ = 100;
};

}  // namespace

std::unique_ptr<jsi::Runtime> makePlainEngine() { return facebook::jsc::makeJSCRuntime(); }

std::unique_ptr<jsi::Runtime> makeLendingEngine() { return std::make_unique<LendingEngine>(); }

}  // namespace host
