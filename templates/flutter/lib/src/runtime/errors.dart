// Errors of calls to a model.

/// Why a call failed.
enum ModelErrorCode {
  /// A file of the model is not there.
  missing,

  /// A file is not the one that the package was built with, or not the one whose SHA-256 was given.
  corrupted,

  /// A file is there and cannot be read, or one cannot be written.
  unreadable,

  /// The device has no room for a download.
  noSpace,

  /// A download did not succeed.
  network,

  /// The model is encrypted, and the app has no key for it, or another one.
  key,

  /// ONNX Runtime reports an error; the message is its own.
  runtime,

  /// The device has not enough memory.
  outOfMemory,

  /// The isolate, or the worker of a page, that hosts the model has failed or ended: the next call starts another.
  host,

  /// The app has an older ONNX Runtime than this package was built for.
  runtimeVersion,

  /// A file of the app's own has other inputs or outputs than this model.
  badModel,

  /// A tensor has another length or shape than the model takes.
  badInput,

  /// An option has an invalid value.
  badOptions,

  /// Too many calls have not ended yet: the option `queue` is their limit.
  busy,

  /// The model was disposed of before the call.
  disposed,

  /// The call was cancelled.
  cancelled,

  /// The platform does not support the operation.
  unsupported,
}

/// A model cannot be loaded or run. Every future of this package that fails fails with one.
base class ModelException implements Exception {
  /// Made by this package: an app only catches it.
  const ModelException(this.code, this.message);

  /// The reason, for code.
  final ModelErrorCode code;

  /// The reason, for people.
  final String message;

  @override
  String toString() => 'ModelException: [${code.name}] $message';
}
