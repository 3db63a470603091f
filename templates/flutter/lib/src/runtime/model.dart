// A loaded model: what every generated class has inside.

import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'assignment.dart';
import 'cancellation.dart';
import 'comparison.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'heat.dart';
import 'memory.dart';
import 'observing.dart';
import 'onnxruntime.dart';
import 'options.dart';
import 'places.dart';
import 'reopening.dart';
import 'self_test.dart';
import 'serving.dart';
import 'tensor.dart';
import 'thermal.dart';
import 'worker.dart';

/// The options of every session: models are read where they are.
const Map<String, String> _always = {
  'session.use_ort_model_bytes_directly': '1',
  'session.use_ort_model_bytes_for_initializers': '1',
  'session.record_ep_graph_assignment_info': '1',
};

/// What a trace of runs has at most.
const int _mostProfiled = 10000;

/// A model that is open in an isolate of its own.
final class LoadedModel {
  LoadedModel._(this.descriptor, this._options, _Session first) {
    final options = _options;
    final hasUsualThreads = options.threads == 0 && options.policies.fewerThreadsWhenHot;
    _serving = Serving(
      first,
      policies: options.policies,
      // It must not refer to the model, which may be collected.
      open: _reopener(descriptor, options),
      onRelease: _releaser(descriptor.name, options),
      heat: hasUsualThreads ? Heat(_usualThreads, isHot) : null,
    );
  }

  /// What the package says of it.
  final ModelDescriptor descriptor;

  final LoadOptions _options;
  late final Serving<_Session> _serving;
  int _underWay = 0;
  Future<void>? _disposal;

  /// The provider that runs the model.
  Provider get provider => _serving.latest.provider;

  /// The providers that did not start, or failed.
  List<Fallback> get fallbacks => _serving.fallbacks;

  /// What each provider runs of the model.
  List<ProviderAssignment>? get assignment => _serving.latest._outcome.assignment;

  /// Identifies the model.
  ModelInfo get info => _serving.latest._outcome.info;

  /// Opens a model with the first provider that starts.
  static Future<LoadedModel> load(ModelDescriptor descriptor, LoadOptions options) async {
    final session = await _observed(descriptor, options, () {
      options.check();
      return _load(descriptor, options, options.providers, options.threads);
    });
    return LoadedModel._(descriptor, options, session);
  }

  /// Opens a session, and tells how long that took or why it failed.
  static Future<_Session> _observed(
    ModelDescriptor descriptor,
    LoadOptions options,
    Future<_Session> Function() load,
  ) async {
    final clock = Stopwatch()..start();
    final observer = options.observer;
    try {
      final session = await load();
      final info = session._outcome.info;
      tell(
        () => observer?.onLoad?.call(
          LoadEvent(info, session.provider, session.fallbacks, clock.elapsed, memoryBytes: ProcessInfo.currentRss),
        ),
      );
      return session;
    } on ModelException catch (error) {
      tell(() => observer?.onFailure?.call(FailureEvent(descriptor.name, error, clock.elapsed)));
      rethrow;
    }
  }

  static Future<_Session> Function(Provider provider, int threads) _reopener(
    ModelDescriptor descriptor,
    LoadOptions options,
  ) =>
      (provider, threads) => _observed(
        descriptor,
        options,
        () => _load(descriptor, options, [provider], threads > 0 ? threads : options.threads),
      );

  static void Function(ReleaseReason reason) _releaser(String model, LoadOptions options) =>
      (reason) => tell(() => options.observer?.onRelease?.call(ReleaseEvent(model, reason)));

  static Future<_Session> _load(
    ModelDescriptor descriptor,
    LoadOptions options,
    List<Provider>? providers,
    int threads,
  ) async {
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
      final outcome = await _open(descriptor, options, worker, fallbacks, providers, threads);
      return _Session(descriptor, runtime, worker, outcome, List.unmodifiable(fallbacks));
    } on Object {
      await worker.close();
      rethrow;
    }
  }

  static Future<_Outcome> _open(
    ModelDescriptor descriptor,
    LoadOptions options,
    Worker worker,
    List<Fallback> fallbacks,
    List<Provider>? providers,
    int threads,
  ) async {
    ModelException? failure;
    for (final provider in _order(descriptor, providers)) {
      final files = descriptor.files.where((each) => each.providers.contains(provider)).toList();
      if (files.isEmpty) fallbacks.add(Fallback(provider, 'the package has no file for it'));
      // A file that needs arithmetic that the device lacks has another one behind it.
      for (final file in files) {
        try {
          final outcome = await _start(descriptor, options, worker, provider, file, threads);
          if (!hasNoNode(provider, outcome.assignment)) return outcome;
          throw const ModelException(ModelErrorCode.runtime, 'took no node of the model');
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
    Worker worker,
    Provider provider,
    ModelFile file,
    int threads,
  ) async {
    final source = options.source;
    final PlacedFile model;
    final weights = <PlacedFile>[];
    if (source is PathSource) {
      model = PlacedFile.at(source.path, source.path, source.sha256?.toLowerCase());
    } else {
      model = await place(source, descriptor.package, file.file, file.file.name);
      for (final each in file.weights) {
        weights.add(await place(source, descriptor.package, each.file, each.reference));
      }
    }
    final settings = _settings(descriptor, options, provider, file, threads);
    final opened = await worker.open(options.library, model, weights, settings);
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

  /// Runs the model on tensors in the order of [ModelDescriptor.inputs]; gives those of its outputs.
  Future<List<Tensor<Object>>> run(List<TensorInput<Object>> inputs, Cancellation? cancellation) {
    _serving.followHeat();
    return _called(
      inputs,
      cancellation,
      (fed) => _serving.run((session, {required isRetry}) => _ran(session, fed, cancellation, isRetry: isRetry)),
    );
  }

  /// Does something with inputs that are in native memory meanwhile, and counts it as a call that is under way.
  Future<Result> _called<Result>(
    List<TensorInput<Object>> inputs,
    Cancellation? cancellation,
    Future<Result> Function(List<FedTensor> fed) call,
  ) async {
    if (_disposal != null) throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of');
    if (cancellation?.isCancelled ?? false) throw _cancelled;
    if (_underWay >= _options.queue) {
      throw ModelException(ModelErrorCode.busy, '$_underWay calls have not ended yet');
    }
    final memory = Arena();
    _underWay++;
    try {
      return await call([for (final (index, each) in inputs.indexed) _fed(index, each, memory)]);
    } finally {
      memory.free();
      _underWay--;
    }
  }

  /// A run of a session, of which the observer is told.
  Future<List<Tensor<Object>>> _ran(
    _Session session,
    List<FedTensor> fed,
    Cancellation? cancellation, {
    bool isRetry = false,
  }) async {
    void told(Duration duration, ModelException? error, [Duration queued = Duration.zero]) => tell(
      () => _options.observer?.onRun?.call(
        RunEvent(descriptor.name, session.provider, duration, error, queued: queued, isRetry: isRetry),
      ),
    );
    final clock = Stopwatch()..start();
    try {
      final (outputs, duration) = await session.run(fed, cancellation);
      final waited = clock.elapsed - duration;
      told(duration, null, waited.isNegative ? Duration.zero : waited);
      return outputs;
    } on ModelException catch (error) {
      final failure = cancellation?.isCancelled ?? false ? _cancelled : error;
      told(clock.elapsed, failure);
      throw failure;
    }
  }

  /// Runs a second session of the model `runs` times: the path of ONNX Runtime's trace.
  Future<String> profile(List<TensorInput<Object>> inputs, int runs) {
    if (runs < 1 || runs > _mostProfiled) {
      throw ModelException(ModelErrorCode.badOptions, 'runs is 1 to $_mostProfiled, not $runs');
    }
    return _called(inputs, null, (fed) async {
      final folder = await Directory('${Directory.systemTemp.path}/profiles').create(recursive: true);
      return _serving.use((session) => session.profile(fed, runs, '${folder.path}/${descriptor.name}'));
    });
  }

  FedTensor _fed(int index, TensorInput<Object> input, Arena memory) {
    final spec = descriptor.inputs[index];
    final data = input.data;
    if (data is List<String>) {
      final shape = _shapeOf(spec, data.length, input.shape);
      return FedTensor(index, spec.type, shape, 0, 0, data);
    }
    final bytes = bytesOf(_packed(spec.type, data));
    final shape = _shapeOf(spec, bytes.length ~/ spec.type.sizeBytes, input.shape);
    final copy = memory.bytes(bytes.length);
    copy.asTypedList(bytes.length).setRange(0, bytes.length, bytes);
    return FedTensor(index, spec.type, shape, copy.address, bytes.length, null);
  }

  /// Compares outputs of this device with those of the build machine.
  Future<SelfTest> selfTest() async {
    final golden = _options.source is PathSource
        ? const <Golden>[]
        : descriptor.golden.where((each) => each.tested.containsKey(info.file)).toList();
    final outputs = <OutputTest>[];
    for (final each in golden) {
      final bytes = await read(_options.source, descriptor.package, each.file);
      for (final (number, sample) in each.samples.indexed) {
        final inputs = [for (final spec in descriptor.inputs) inputOf(sample, spec, bytes)];
        // Not repeated on the CPU: the test is about the provider.
        final found = await _called(inputs, null, (fed) => _serving.use((session) => _ran(session, fed, null)));
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
    await _serving.end();
    tell(() => _options.observer?.onRelease?.call(ReleaseEvent(descriptor.name, ReleaseReason.close)));
  }
}

const ModelException _cancelled = ModelException(ModelErrorCode.cancelled, 'the call was cancelled');

/// A session in an isolate of its own.
final class _Session implements Served {
  _Session(this._descriptor, this._runtime, this._worker, this._outcome, this.fallbacks);

  final ModelDescriptor _descriptor;
  final OnnxRuntime _runtime;
  final Worker _worker;
  final _Outcome _outcome;

  @override
  final List<Fallback> fallbacks;

  @override
  Provider get provider => _outcome.provider;

  @override
  Future<void> close() => _worker.close();

  /// Inputs by their places in this session, of those in the order of the descriptor.
  List<FedTensor> _placed(List<FedTensor> fed) => [
    for (final each in fed) each.at(_outcome.inputPlaces[_descriptor.inputs[each.place].name]!),
  ];

  /// Outputs in the order of the descriptor, and how long the run took.
  Future<(List<Tensor<Object>>, Duration)> run(List<FedTensor> fed, Cancellation? cancellation) async {
    final options = cancellation == null ? nullptr : _runtime.runOptions();
    final forget = cancellation?.listen(() => _runtime.check(_runtime.api.runOptionsSetTerminate(options)));
    try {
      final ran = await _worker.run(_placed(fed), options.address);
      try {
        final given = ran.outputs;
        final outputs = [for (final spec in _descriptor.outputs) _copied(given[_outcome.outputPlaces[spec.name]!])];
        return (outputs, ran.duration);
      } finally {
        ran.outputs.forEach(_runtime.releaseValue);
      }
    } finally {
      forget?.call();
      if (options != nullptr) _runtime.api.releaseRunOptions(options);
    }
  }

  Future<String> profile(List<FedTensor> fed, int runs, String prefix) => _worker.profile(_placed(fed), runs, prefix);
}

final class _Outcome {
  _Outcome(this.provider, this.info, OpenedSession opened)
    : assignment = assignmentOf(opened.assigned, provider),
      inputPlaces = {for (final (index, each) in opened.inputs.indexed) each.name: index},
      outputPlaces = {for (final (index, each) in opened.outputs.indexed) each.name: index};

  final Provider provider;
  final ModelInfo info;
  final List<ProviderAssignment>? assignment;
  final Map<String, int> inputPlaces;
  final Map<String, int> outputPlaces;
}

/// As many as the device has processors, four at most.
int get _usualThreads => Platform.numberOfProcessors < 4 ? Platform.numberOfProcessors : 4;

List<Provider> _order(ModelDescriptor descriptor, List<Provider>? providers) {
  // The files of providers are made for phones: the CPU's run everywhere.
  final own = Platform.isAndroid ? [for (final each in descriptor.providers) each.provider] : const <Provider>[];
  final wanted = providers ?? own;
  return [...wanted.where((each) => each != Provider.cpu).toSet(), Provider.cpu];
}

SessionSettings _settings(
  ModelDescriptor descriptor,
  LoadOptions options,
  Provider provider,
  ModelFile file,
  int threads,
) {
  final spinning = options.spinning ? '1' : '0';
  final setup = descriptor.providers.where((each) => each.provider == provider).firstOrNull;
  return SessionSettings(
    threads: threads > 0 ? threads : _usualThreads,
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
