// A loaded model: what every generated class has inside.

import 'dart:ffi';
import 'dart:io';

import 'assignment.dart';
import 'cancellation.dart';
import 'comparison.dart';
import 'decrypting.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'feeding.dart';
import 'files.dart';
import 'guarded.dart';
import 'heat.dart';
import 'library.dart';
import 'memory.dart';
import 'observing.dart';
import 'onnxruntime.dart';
import 'options.dart';
import 'reopening.dart';
import 'self_test.dart';
import 'serving.dart';
import 'starting.dart';
import 'system.dart';
import 'tensor.dart';
import 'thermal.dart';
import 'versions.dart';
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
  LoadedModel._(this.descriptor, this._options, this._files, _Session first, {required bool hasUsualThreads}) {
    final options = _options;
    final usual = options.threads == 0 ? _usualThreads : options.threads;
    _serving = Serving(
      first,
      policies: options.policies,
      // It must not refer to the model, which may be collected.
      open: _reopener(descriptor, options, _files),
      onRelease: _releaser(descriptor.name, options),
      heat: hasUsualThreads && options.policies.fewerThreadsWhenHot ? Heat(usual, warmth) : null,
    );
  }

  /// What the package says of it.
  final ModelDescriptor descriptor;

  final LoadOptions _options;
  final ModelFiles _files;
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

  /// Opens a model with the first provider that starts, with `files` in place of those of the source.
  static Future<LoadedModel> load(ModelDescriptor descriptor, LoadOptions options, [ModelFiles? files]) async {
    final source = options.source;
    if (files == null && source is OpeningSource) return source.open(descriptor, options);
    final applied = descriptor.tuning?.applied(options, chip: chipName(), platform: platform) ?? options;
    final (session, given) = await _observed(descriptor, applied, () async {
      applied.check();
      final given = files ?? await _filesOf(descriptor, applied);
      return (await _load(descriptor, applied, given, applied.providers, applied.threads), given);
    });
    return LoadedModel._(descriptor, applied, given, session, hasUsualThreads: options.threads == 0);
  }

  static Future<ModelFiles> _filesOf(ModelDescriptor descriptor, LoadOptions options) async =>
      decrypting(await guarded(filesOf(descriptor.package, options), descriptor), descriptor, options);

  /// Opens a session, and tells how long that took or why it failed.
  static Future<(_Session, ModelFiles)> _observed(
    ModelDescriptor descriptor,
    LoadOptions options,
    Future<(_Session, ModelFiles)> Function() load,
  ) async {
    final clock = Stopwatch()..start();
    final observer = options.observer;
    try {
      final (session, files) = await load();
      final info = session._outcome.info;
      tell(
        () => observer?.onLoad?.call(
          LoadEvent(
            info,
            session.provider,
            session.fallbacks,
            files.kind,
            clock.elapsed,
            memoryBytes: ProcessInfo.currentRss,
          ),
        ),
      );
      return (session, files);
    } on ModelException catch (error) {
      tell(() => observer?.onFailure?.call(FailureEvent(descriptor.name, error, clock.elapsed)));
      rethrow;
    }
  }

  static Future<_Session> Function(Provider provider, int threads) _reopener(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles files,
  ) => (provider, threads) async {
    final (session, _) = await _observed(descriptor, options, () async {
      return (await _load(descriptor, options, files, [provider], threads > 0 ? threads : options.threads), files);
    });
    return session;
  };

  static void Function(ReleaseReason reason) _releaser(String model, LoadOptions options) =>
      (reason) => tell(() => options.observer?.onRelease?.call(ReleaseEvent(model, reason)));

  static Future<_Session> _load(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles files,
    List<Provider>? providers,
    int threads,
  ) async {
    final setup = setupOf(descriptor);
    final library = await findLibrary(descriptor.package, options.library, descriptor.library);
    final runtime = OnnxRuntime.open(library);
    _checkVersion(runtime.version, setup, options);
    final worker = await Worker.start();
    try {
      final fallbacks = <Fallback>[];
      final attempt = _Attempt(
        descriptor,
        setup,
        options,
        files,
        library,
        runtime.version,
        worker,
        threads > 0 ? threads : _usualThreads,
      );
      final outcome = await _open(attempt, providersOf(setup, providers), fallbacks);
      return _Session(descriptor, runtime, worker, outcome, List.unmodifiable(fallbacks));
    } on Object {
      await worker.close();
      rethrow;
    }
  }

  static Future<_Outcome> _open(_Attempt attempt, List<Provider> providers, List<Fallback> fallbacks) async {
    ModelException? failure;
    final chip = Platform.isAndroid ? chipName() : '';
    for (final provider in providers) {
      final files = filesFor(provider, attempt.setup, chip);
      if (files.isEmpty) fallbacks.add(Fallback(provider, 'the package has no file for it'));
      // A file that needs arithmetic that the device lacks has another one behind it.
      for (final file in files) {
        try {
          final outcome = await _start(attempt, provider, file);
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

  static Future<_Outcome> _start(_Attempt attempt, Provider provider, ModelFile file) async {
    final descriptor = attempt.descriptor;
    final source = attempt.options.source;
    final files = attempt.files;
    final settings = _settings(attempt, provider, file);
    Future<OpenedSession> open(PlacedFile model, List<PlacedFile> weights) =>
        attempt.worker.open(attempt.library, model, weights, settings);
    final PlacedFile model;
    final OpenedSession opened;
    if (source is PathSource && files.kind == SourceKind.path) {
      model = await files.own(source);
      opened = await open(model, const []);
    } else {
      (model, opened) = await _placed(files, file, open);
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
    return _Outcome(provider, info, opened, leastTolerance(provider, settings.options));
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
  Future<List<Tensor<Object>>> run(List<TensorInput<Object>> inputs, Cancellation? cancellation) {
    _serving.followHeat();
    return _called(
      inputs,
      cancellation,
      (fed) => _serving.run(
        (session, {required isRetry}) => _ran(session, fed, cancellation, isRetry: isRetry),
        cancellation,
      ),
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
      return await call([
        for (final (index, each) in inputs.indexed) fedTensor(index, descriptor.inputs[index], each, memory),
      ]);
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

  /// Compares outputs of this device with those of the build machine.
  Future<SelfTest> selfTest() async {
    final golden = _files.kind == SourceKind.path
        ? const <Golden>[]
        : descriptor.golden.where((each) => each.tested.containsKey(info.file)).toList();
    final outputs = <OutputTest>[];
    for (final each in golden) {
      final bytes = await _files.read(each.file);
      for (final (number, sample) in each.samples.indexed) {
        final inputs = [for (final spec in descriptor.inputs) inputOf(sample, spec, bytes)];
        // Not repeated on the CPU: the test is about the provider.
        final found = await _called(inputs, null, (fed) => _serving.use((session) => _ran(session, fed, null)));
        for (final tensor in sample.outputs) {
          final index = descriptor.outputs.indexWhere((spec) => spec.name == tensor.name);
          final type = descriptor.outputs[index].type;
          final least = _serving.latest._outcome.leastTolerance;
          outputs.add(compared(number, tensor, bytes, type, found[index], each.tested[info.file]!, least));
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

/// A source that opens models by itself.
abstract base class OpeningSource extends MadeSource {
  /// For classes that do so.
  const OpeningSource();

  /// Opens a model.
  Future<LoadedModel> open(ModelDescriptor descriptor, LoadOptions options);
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
  bool get isEnded => _worker.isEnded;

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
        final outputs = [
          for (final spec in _descriptor.outputs) copiedTensor(given[_outcome.outputPlaces[spec.name]!]),
        ];
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
  _Outcome(this.provider, this.info, OpenedSession opened, this.leastTolerance)
    : assignment = assignmentOf(opened.assigned, provider),
      inputPlaces = {for (final (index, each) in opened.inputs.indexed) each.name: index},
      outputPlaces = {for (final (index, each) in opened.outputs.indexed) each.name: index};

  final Provider provider;
  final ModelInfo info;
  final double leastTolerance;
  final List<ProviderAssignment>? assignment;
  final Map<String, int> inputPlaces;
  final Map<String, int> outputPlaces;
}

/// As many as the device has processors, four at most.
int get _usualThreads => Platform.numberOfProcessors < 4 ? Platform.numberOfProcessors : 4;

/// What all attempts to open a model have in common.
final class _Attempt {
  const _Attempt(
    this.descriptor,
    this.setup,
    this.options,
    this.files,
    this.library,
    this.runtime,
    this.worker,
    this.threads,
  );

  final ModelDescriptor descriptor;
  final PlatformSetup setup;
  final LoadOptions options;
  final ModelFiles files;
  final RuntimeLibrary library;
  final String runtime;
  final Worker worker;
  final int threads;
}

/// The providers that a load tries: those that were asked for, or those of the package, and the CPU last.
List<Provider> providersOf(PlatformSetup setup, List<Provider>? asked) {
  final wanted = asked ?? [for (final each in setup.providers) each.provider];
  return [...wanted.where((each) => each != Provider.cpu).toSet(), Provider.cpu];
}

SessionSettings _settings(_Attempt attempt, Provider provider, ModelFile file) {
  final options = attempt.options;
  final spinning = options.spinning ? '1' : '0';
  return SessionSettings(
    threads: attempt.threads,
    entries: {
      ..._always,
      'session.intra_op.allow_spinning': spinning,
      'session.inter_op.allow_spinning': spinning,
      ...file.settings,
    },
    provider: provider == Provider.cpu ? null : provider.registeredName,
    options: settingsOf(
      attempt.descriptor,
      attempt.setup,
      provider,
      file,
      options.providerOptions[provider] ?? const {},
      threads: attempt.threads,
      runtime: attempt.runtime,
    ),
  );
}

void _checkVersion(String version, PlatformSetup setup, LoadOptions options) {
  if (options.allowOtherRuntime || !isOlder(version, setup.oldestRuntime)) return;
  throw ModelException(
    ModelErrorCode.runtimeVersion,
    'the app has ONNX Runtime $version; this package needs ${setup.oldestRuntime} or later',
  );
}

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
