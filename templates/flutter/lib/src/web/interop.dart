// The JavaScript of the package for pages, as Dart sees it.

import 'dart:async';
import 'dart:js_interop';
import 'dart:js_interop_unsafe';

import '../runtime/errors.dart';

/// A tensor of a model, as its module describes it.
extension type PageTensorSpec._(JSObject _) implements JSObject {
  /// Its name in the model.
  external String get name;
}

/// A provider as the package was configured for it.
extension type PageProviderSetup._(JSObject _) implements JSObject {
  /// Its name.
  external String get provider;
}

/// A module's facts about its model.
extension type PageDescriptor._(JSObject _) implements JSObject {
  /// By the names that JavaScript has for them.
  external JSObject get inputs;

  /// By the names that JavaScript has for them.
  external JSObject get outputs;

  /// The names of the providers that the package has for pages, without the CPU.
  List<String> get providers {
    final platforms = getProperty<JSObject>('platforms'.toJS);
    final setup = platforms.getProperty<JSObject>('web'.toJS);
    final found = setup.getProperty<JSArray<PageProviderSetup>>('providers'.toJS);
    return [for (final each in found.toDart) each.provider];
  }
}

/// Export of a module: a model that can be loaded.
extension type PageDefinition._(JSObject _) implements JSObject {
  /// The module's facts about the model.
  external PageDescriptor get descriptor;

  /// Loads it.
  external JSPromise<PageSession> load(JSObject options);
}

/// A provider that did not start.
extension type PageFallback._(JSObject _) implements JSObject {
  /// Its name.
  external String get provider;

  /// In most cases ONNX Runtime's message.
  external String get reason;
}

/// Identifies a model.
extension type PageInfo._(JSObject _) implements JSObject {
  /// Its name.
  external String get name;

  /// Version of the package.
  external String get version;

  /// The file that was opened.
  external String get file;

  /// SHA-256 of that file.
  external String get sha256;

  /// Size of that file.
  external int get sizeBytes;

  /// In the package.
  external String get onnxRuntimeVersion;

  /// Verdicts of a proof.
  external JSArray<PageProof> get proofs;
}

/// The verdict on a provider.
extension type PageProof._(JSObject _) implements JSObject {
  /// Its name.
  external String get provider;

  /// Whether it is proved.
  external bool get isProved;

  /// Why it is left out.
  external String get reason;

  /// Its fastest run, where it was measured.
  external double? get seconds;

  /// The CPU's.
  external double? get cpuSeconds;
}

/// One output of a self-test.
extension type PageOutputTest._(JSObject _) implements JSObject {
  /// In the model.
  external String get name;

  /// Number of the sample.
  external int get sample;

  /// The largest difference.
  external double get maxAbsError;

  /// Values that differ and have no distance.
  external int get mismatchCount;

  /// The largest expected value.
  external double get scale;

  /// Allowed error as a share of [scale].
  external double get tolerance;

  /// Allowed error whatever the [scale].
  external double get absoluteTolerance;

  /// Why the output failed.
  external String get failure;
}

/// The result of a self-test.
extension type PageSelfTest._(JSObject _) implements JSObject {
  /// Every output that was compared.
  external JSArray<PageOutputTest> get outputs;
}

/// Progress of a download.
extension type PageProgress._(JSObject _) implements JSObject {
  /// Bytes that are there.
  external int get loadedBytes;

  /// Bytes of all files.
  external int get totalBytes;
}

/// A run has ended.
extension type PageRun._(JSObject _) implements JSObject {
  /// Name of the model.
  external String get model;

  /// The one that ran it.
  external String get provider;

  /// Seconds that it waited for its turn.
  external double get queued;

  /// Seconds from then on.
  external double get duration;

  /// Null of a run that succeeded.
  external JSObject? get error;

  /// Whether it repeated a run that had failed.
  external bool get isRetry;
}

/// A tensor that a model gave.
extension type PageTensor._(JSObject _) implements JSObject {
  /// Its values.
  external JSObject get data;

  /// Its sizes.
  external JSArray<JSNumber> get shape;
}

/// A loaded model.
extension type PageSession._(JSObject _) implements JSObject {
  /// Identifies it.
  external PageInfo get info;

  /// The one that runs it.
  external String get provider;

  /// Providers that did not start.
  external JSArray<PageFallback> get fallbacks;

  /// Runs it.
  external JSPromise<JSObject> run(JSObject inputs, JSObject options);

  /// Compares outputs of this page with those of the build machine.
  external JSPromise<PageSelfTest> selfTest();

  /// Gives its memory back after the runs that are under way.
  external void dispose();
}

/// Ends calls from outside.
@JS('AbortController')
extension type AbortController._(JSObject _) implements JSObject {
  /// Ends nothing yet.
  external AbortController();

  /// For the calls.
  external JSObject get signal;

  @JS('abort')
  external void _abort();

  /// Ends them.
  void abort() => _abort();
}

extension type _Thenable._(JSObject _) implements JSObject {
  external JSObject then(JSFunction fulfilled, JSFunction rejected);
}

extension type _Failure._(JSObject _) implements JSObject {
  external String? get code;

  external String? get message;
}

/// The value of a promise.
///
/// Throws ModelException for a promise that is rejected.
Future<Value> settled<Value extends JSAny?>(JSPromise<Value> promise) {
  final settled = Completer<Value>();
  void fulfilled(JSAny? value) => settled.complete(value as Value);
  void rejected(JSAny? reason) => settled.completeError(exceptionOf(reason), StackTrace.current);
  _Thenable._(promise).then(fulfilled.toJS, rejected.toJS);
  return settled.future;
}

/// Dart's exception for an error of JavaScript.
ModelException exceptionOf(JSAny? reason) {
  if (reason == null || !reason.typeofEquals('object')) {
    return ModelException(ModelErrorCode.runtime, '${reason.dartify()}');
  }
  final failure = _Failure._(reason as JSObject);
  final code = _codes[failure.code] ?? ModelErrorCode.runtime;
  return ModelException(code, failure.message ?? '${reason.dartify()}');
}

/// `bad-input` -> [ModelErrorCode.badInput].
final Map<String, ModelErrorCode> _codes = {for (final each in ModelErrorCode.values) kebab(each.name): each};

/// `badInput` -> `bad-input`
String kebab(String name) => name.replaceAllMapped(RegExp('[A-Z]'), (found) => '-${found[0]!.toLowerCase()}');
