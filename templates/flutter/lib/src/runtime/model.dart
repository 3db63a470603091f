// A loaded model: what every generated class has inside.

import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'cancellation.dart';
import 'comparison.dart';
import 'decrypting.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'files.dart';
import 'guarded.dart';
import 'memory.dart';
import 'onnxruntime.dart';
import 'options.dart';
import 'self_test.dart';
import 'tensor.dart';
import 'worker.dart';

/// The options of every session: models are read where they are.
const Map<String, String> _always = {
  'session.use_ort_model_bytes_directly': '1',
  'session.use_ort_model_bytes_for_initializers': '1',
};

/// A model that is open in an isolate of its own.
final class LoadedModel {
  LoadedModel._(
    this.descriptor,
    this._options,
    this._files,
    this._runtime,
    this._worker,
    this._outcome,
    this.fallbacks,
  );

  /// What the package says of it.
  final ModelDescriptor descriptor;

  /// The providers that did not start.
  final List<Fallback> fallbacks;

  final LoadOptions _options;
  final ModelFiles _files;
  final OnnxRuntime _runtime;
  final Worker _worker;
  final _Outcome _outcome;
  int _underWay = 0;
  Future<void>? _disposal;

  /// The provider that runs the model.
  Provider get provider => _outcome.provider;

  /// Identifies the model.
  ModelInfo get info => _outcome.info;

  /// Opens a model with the first provider that starts, with `files` in place of those of the source.
  static Future<LoadedModel> load(ModelDescriptor descriptor, LoadOptions options, [ModelFiles? files]) async {
    final source = options.source;
    if (files == null && source is OpeningSource) return source.open(descriptor, options);
    final clock = Stopwatch()..start();
    try {
      options.check();
      final given =
          files ?? decrypting(await guarded(filesOf(descriptor.package, options), descriptor), descriptor, options);
      final model = await _load(descriptor, options, given);
      options.observer?.onLoad?.call(LoadEvent(model.info, model.provider, model.fallbacks, given.kind, clock.elapsed));
      return model;
    } on ModelException catch (error) {
      options.observer?.onFailure?.call(FailureEvent(descriptor.name, error, clock.elapsed));
      rethrow;
    }
  }

  static Future<LoadedModel> _load(ModelDescriptor descriptor, LoadOptions options, ModelFiles files) async {
    if (!Platform.isAndroid && !Platform.isLinux) {
      throw ModelException(
        ModelErrorCode.unsupported,
        'this package runs on Android and Linux, not ${Platform.operatingSystem}',
      );
    }
    final runtime = OnnxRuntime.open(options.library);
    _checkVersion(runtime.version, descriptor, options);
    final worker = await Worker.start();
    try {
      final fallbacks = <Fallback>[];
      final outcome = await _open(descriptor, options, files, worker, fallbacks);
      return LoadedModel._(descriptor, options, files, runtime, worker, outcome, List.unmodifiable(fallbacks));
    } on Object {
      await worker.close();
      rethrow;
    }
  }

  static Future<_Outcome> _open(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles given,
    Worker worker,
    List<Fallback> fallbacks,
  ) async {
    ModelException? failure;
    for (final provider in providersOf(descriptor, options.providers)) {
      final files = descriptor.files.where((each) => each.providers.contains(provider)).toList();
      if (files.isEmpty) fallbacks.add(Fallback(provider, 'the package has no file for it'));
      // A file that needs arithmetic that the device lacks has another one behind it.
      for (final file in files) {
        try {
          return await _start(descriptor, options, given, worker, provider, file);
        } on ModelException catch (error) {
          if (error.code != ModelErrorCode.runtime) rethrow;
          failure = error;
        }
      }
      if (files.isNotEmpty) fallbacks.add(Fallback(provider, failure?.message ?? ''));
    }
    throw failure ?? const ModelException(ModelErrorCode.unsupported, 'the package has no file for the CPU');
  }

  static Future<_Outcome> _start(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles given,
    Worker worker,
    Provider provider,
    ModelFile file,
  ) async {
    final source = options.source;
    final settings = _settings(descriptor, options, provider, file);
    final PlacedFile model;
    final OpenedSession opened;
    if (source is PathSource && given.kind == SourceKind.path) {
      model = await given.own(source);
      opened = await worker.open(options.library, model, const [], settings);
    } else {
      (model, opened) = await _placed(given, file, (model, weights) {
        return worker.open(options.library, model, weights, settings);
      });
    }
    _compare(descriptor, opened);
    final info = ModelInfo(
      name: descriptor.name,
      version: descriptor.version,
      file: model.name,
      sha256: model.sha256 ?? '',
      sizeBytes: opened.sizeBytes,
      onnxRuntimeVersion: opened.version,
    );
    return _Outcome(provider, info, opened);
  }

  /// Opens files of the package; once more where some had other bytes and came anew.
  static Future<(PlacedFile, OpenedSession)> _placed(
    ModelFiles given,
    ModelFile file,
    Future<OpenedSession> Function(PlacedFile model, List<PlacedFile> weights) open,
  ) async {
    final all = [file.file, for (final each in file.weights) each.file];
    await given.fetch(all);
    Future<(PlacedFile, OpenedSession)> placed() async {
      final model = await given.place(file.file, file.file.name);
      final weights = [for (final each in file.weights) await given.place(each.file, each.reference)];
      return (model, await open(model, weights));
    }

    try {
      return await placed();
    } on ModelException catch (error) {
      if (error.code != ModelErrorCode.corrupted || !await given.repair(all)) rethrow;
      return placed();
    }
  }

  /// Runs the model on tensors in the order of [ModelDescriptor.inputs]; gives those of its outputs.
  Future<List<Tensor<Object>>> run(List<TensorInput<Object>> inputs, Cancellation? cancellation) async {
    if (_disposal != null) throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of');
    if (cancellation?.isCancelled ?? false) throw _cancelled;
    if (_underWay >= _options.queue) {
      throw ModelException(ModelErrorCode.busy, '$_underWay calls have not ended yet');
    }
    final memory = Arena();
    final List<FedTensor> fed;
    try {
      fed = [for (final (index, each) in inputs.indexed) _fed(index, each, memory)];
    } on Object {
      memory.free();
      rethrow;
    }
    _underWay++;
    final clock = Stopwatch()..start();
    ModelException? failure;
    try {
      return await _queued(fed, cancellation);
    } on ModelException catch (error) {
      failure = cancellation?.isCancelled ?? false ? _cancelled : error;
      throw failure;
    } finally {
      memory.free();
      _underWay--;
      _options.observer?.onRun?.call(RunEvent(descriptor.name, provider, clock.elapsed, failure));
    }
  }

  Future<List<Tensor<Object>>> _queued(List<FedTensor> fed, Cancellation? cancellation) async {
    final options = cancellation == null ? nullptr : _runtime.runOptions();
    final forget = cancellation?.listen(() => _runtime.check(_runtime.api.runOptionsSetTerminate(options)));
    try {
      final given = await _worker.run(fed, options.address);
      try {
        return [for (final spec in descriptor.outputs) _copied(given[_outcome.outputPlaces[spec.name]!])];
      } finally {
        given.forEach(_runtime.releaseValue);
      }
    } finally {
      forget?.call();
      if (options != nullptr) _runtime.api.releaseRunOptions(options);
    }
  }

  FedTensor _fed(int index, TensorInput<Object> input, Arena memory) {
    final spec = descriptor.inputs[index];
    final place = _outcome.inputPlaces[spec.name]!;
    final data = input.data;
    if (data is List<String>) {
      final shape = _shapeOf(spec, data.length, input.shape);
      return FedTensor(place, spec.type, shape, 0, 0, data);
    }
    final bytes = bytesOf(_packed(spec.type, data));
    final shape = _shapeOf(spec, bytes.length ~/ spec.type.sizeBytes, input.shape);
    final copy = memory.bytes(bytes.length);
    copy.asTypedList(bytes.length).setRange(0, bytes.length, bytes);
    return FedTensor(place, spec.type, shape, copy.address, bytes.length, null);
  }

  /// Compares outputs of this device with those of the build machine.
  Future<SelfTest> selfTest() async {
    final golden = _files.kind == SourceKind.path
        ? const <Golden>[]
        : descriptor.golden.where((each) => each.tested.containsKey(info.file)).toList();
    final outputs = <OutputTest>[];
    for (final each in golden) {
      final bytes = await _files.read(each.file);
      for (final (number, sample) in each.samples.indexed) {
        final found = await run([for (final spec in descriptor.inputs) inputOf(sample, spec, bytes)], null);
        for (final tensor in sample.outputs) {
          final index = descriptor.outputs.indexWhere((spec) => spec.name == tensor.name);
          final type = descriptor.outputs[index].type;
          outputs.add(compared(number, tensor, bytes, type, found[index], each.tested[info.file]!));
        }
      }
    }
    return SelfTest(model: info.name, file: info.file, provider: provider, outputs: List.unmodifiable(outputs));
  }

  /// Gives the memory of the model back, after the runs that were asked for. Later calls fail with `disposed`.
  Future<void> dispose() => _disposal ??= _dispose();

  Future<void> _dispose() async {
    await _worker.close();
    _options.observer?.onRelease?.call(descriptor.name);
  }
}

/// A source that opens models by itself.
abstract base class OpeningSource extends MadeSource {
  /// For classes that do so.
  const OpeningSource();

  /// Opens a model.
  Future<LoadedModel> open(ModelDescriptor descriptor, LoadOptions options);
}

const ModelException _cancelled = ModelException(ModelErrorCode.cancelled, 'the call was cancelled');

final class _Outcome {
  _Outcome(this.provider, this.info, OpenedSession opened)
    : inputPlaces = {for (final (index, each) in opened.inputs.indexed) each.name: index},
      outputPlaces = {for (final (index, each) in opened.outputs.indexed) each.name: index};

  final Provider provider;
  final ModelInfo info;
  final Map<String, int> inputPlaces;
  final Map<String, int> outputPlaces;
}

/// The providers that a load tries, the CPU last.
List<Provider> providersOf(ModelDescriptor descriptor, List<Provider>? asked) {
  // The files of providers are made for phones: the CPU's run everywhere.
  final own = Platform.isAndroid ? [for (final each in descriptor.providers) each.provider] : const <Provider>[];
  final wanted = asked ?? own;
  return [...wanted.where((each) => each != Provider.cpu).toSet(), Provider.cpu];
}

SessionSettings _settings(ModelDescriptor descriptor, LoadOptions options, Provider provider, ModelFile file) {
  final spinning = options.spinning ? '1' : '0';
  final setup = descriptor.providers.where((each) => each.provider == provider).firstOrNull;
  final processors = Platform.numberOfProcessors;
  return SessionSettings(
    threads: options.threads > 0 ? options.threads : (processors < 4 ? processors : 4),
    entries: {
      ..._always,
      'session.intra_op.allow_spinning': spinning,
      'session.inter_op.allow_spinning': spinning,
      ...file.settings,
    },
    provider: provider == Provider.cpu ? null : provider.registeredName,
    options: {...?setup?.options, ...?options.providerOptions[provider]},
  );
}

void _checkVersion(String version, ModelDescriptor descriptor, LoadOptions options) {
  if (options.allowOtherRuntime || !_isOlder(version, descriptor.oldestRuntime)) return;
  throw ModelException(
    ModelErrorCode.runtimeVersion,
    'the app has ONNX Runtime $version; this package needs ${descriptor.oldestRuntime} or later',
  );
}

bool _isOlder(String version, String oldest) {
  final found = _numbers(version);
  final wanted = _numbers(oldest);
  for (var index = 0; index < wanted.length; index++) {
    final number = index < found.length ? found[index] : 0;
    if (number != wanted[index]) return number < wanted[index];
  }
  return false;
}

List<int> _numbers(String version) => [for (final each in version.split('.')) int.tryParse(each) ?? 0];

/// Throws ModelException `badModel` for a session with other tensors than the package knows.
void _compare(ModelDescriptor descriptor, OpenedSession opened) {
  for (final (kind, known, found) in [
    ('input', descriptor.inputs, opened.inputs),
    ('output', descriptor.outputs, opened.outputs),
  ]) {
    final types = {for (final each in found) each.name: each.type};
    for (final each in known) {
      if (types[each.name] == each.type) continue;
      throw ModelException(ModelErrorCode.badModel, 'the file has no $kind `${each.name}` of ${each.type.name}');
    }
    if (found.length != known.length) {
      throw ModelException(ModelErrorCode.badModel, 'the file has ${found.length} ${kind}s instead of ${known.length}');
    }
  }
}

/// The sizes of an input, which were given or follow from the number of its values.
///
/// Throws ModelException `badInput` where they do not fit the model.
List<int> _shapeOf(TensorSpec spec, int count, List<int>? given) {
  final shape = given ?? _inferred(spec, count);
  var fits = shape.length == spec.shape.length && countOf(shape) == count && shape.every((size) => size >= 0);
  for (var axis = 0; fits && axis < shape.length; axis++) {
    fits = spec.shape[axis] == null || spec.shape[axis] == shape[axis];
  }
  if (fits) return shape;
  throw ModelException(
    ModelErrorCode.badInput,
    'input `${spec.name}` takes ${_inWords(spec.shape)}, found $count values of shape $shape',
  );
}

List<int> _inferred(TensorSpec spec, int count) {
  final open = spec.shape.where((size) => size == null).length;
  final known = spec.shape.nonNulls.fold(1, (product, size) => product * size);
  if (open > 1 || (open == 1 && known == 0)) {
    throw ModelException(
      ModelErrorCode.badInput,
      'input `${spec.name}` takes ${_inWords(spec.shape)}: pass its shape, which its number of values does not say',
    );
  }
  return [for (final size in spec.shape) size ?? count ~/ known];
}

String _inWords(List<int?> shape) => '[${shape.map((size) => size ?? '?').join(', ')}]';

/// Values as they lie in memory: of 64-bit integers any list will do.
TypedData _packed(ElementType type, Object data) => switch (data) {
  List<int>() when isWhole(type) && data is! Int64List && data is! Uint64List => Int64List.fromList(data),
  _ => data as TypedData,
};

/// An output in memory of Dart.
Tensor<Object> _copied(GivenTensor given) {
  final texts = given.texts;
  if (texts != null) return Tensor(texts, List.unmodifiable(given.shape));
  final data = given.type.zeros(countOf(given.shape));
  final bytes = bytesOf(data);
  if (bytes.isNotEmpty) {
    bytes.setRange(0, bytes.length, Pointer<Uint8>.fromAddress(given.data).asTypedList(bytes.length));
  }
  return Tensor(data, List.unmodifiable(given.shape));
}
