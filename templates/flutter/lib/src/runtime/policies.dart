// What a model does by itself when the device takes something away from it.

/// Each of these is on unless it is turned off.
final class Policies {
  /// Takes policies, each of which has a default.
  const Policies({this.retryOnCpu = true, this.fewerThreadsWhenHot = true, this.releaseOnMemoryPressure = true});

  /// A run that fails in ONNX Runtime on another provider than the CPU is repeated once on the CPU. After three failures
  /// in a row the model stays there: `provider` and `fallbacks` say so.
  final bool retryOnCpu;

  /// Half the threads while the device is so hot that Android or Apple's systems slow it down, unless the option `threads`
  /// is set: a model on the CPU or XNNPACK is opened with them beside the one that runs, which it then replaces, and with
  /// the usual ones when it is cool again; at most once in a minute.
  final bool fewerThreadsWhenHot;

  /// When the app says that memory is short, by `releaseUnusedModels`, a model that nothing runs is released, and its next
  /// run opens it again. Not one that has not run yet.
  final bool releaseOnMemoryPressure;
}
