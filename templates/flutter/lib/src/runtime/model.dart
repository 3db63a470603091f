// A loaded model: what every generated class has inside.

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
import 'memory.dart';
import 'observing.dart';
import 'onnxruntime.dart';
import 'options.dart';
import 'proof.dart';
import 'proving.dart';
import 'self_test.dart';
import 'serving.dart';
import 'session.dart';
import 'system.dart';
import 'tensor.dart';
import 'thermal.dart';

/// Largest number of runs in a trace.
const int _mostProfiled = 10000;

/// A model that is open in an isolate of its own.
final class LoadedModel {
  LoadedModel._(
    this.descriptor,
    this._options,
    this._files,
    this._ending,
    Session first,
    this._proofs, {
    required bool hasUsualThreads,
  }) {
    final options = _options;
    final usual = options.threads == 0 ? usualThreads : options.threads;
    _serving = Serving(
      first,
      policies: options.policies,
      // It must not refer to the model, which may be collected.
      open: _reopener(descriptor, options, _files),
      onRelease: _releaser(descriptor.name, options),
      heat: hasUsualThreads && options.policies.fewerThreadsWhenHot ? Heat(usual, warmth) : null,
    );
  }

  /// The package's facts about the model.
  final ModelDescriptor descriptor;

  final LoadOptions _options;
  final ModelFiles _files;
  final List<ProviderProof> _proofs;

  /// Ends downloads for sessions that are opened again.
  final Cancellation _ending;
  late final Serving<Session> _serving;
  int _underWay = 0;
  Future<void>? _disposal;

  /// The provider that runs the model.
  Provider get provider => _serving.latest.provider;

  /// The providers that did not start, or failed.
  List<Fallback> get fallbacks => _serving.fallbacks;

  /// The share of the model that each provider runs.
  List<ProviderAssignment>? get assignment => _serving.latest.outcome.assignment;

  /// Identifies the model.
  ModelInfo get info => _serving.latest.outcome.info.withProofs(_proofs);

  /// Opens a model with the first provider that starts, with `files` in place of those of the source.
  static Future<LoadedModel> load(ModelDescriptor descriptor, LoadOptions options, [ModelFiles? files]) async {
    final source = options.source;
    if (files == null && source is OpeningSource) return source.open(descriptor, options);
    final applied = descriptor.tuning?.applied(options, chip: chipName(), platform: platform) ?? options;
    var proofs = const <ProviderProof>[];
    final (session, given) = await _observed(descriptor, applied, () async {
      applied.check();
      final given = files ?? await _filesOf(descriptor, applied);
      try {
        final proof = applied.proof;
        if (proof == null) return (await _opened(descriptor, applied, given, applied.providers), given);
        final (session, verdicts) = await openProved(descriptor, applied, given, proof);
        proofs = verdicts;
        return (session, given);
      } on Object {
        await given.close();
        rethrow;
      }
    });
    final ending = Cancellation();
    given.opened(ending);
    final kept = applied.opened(ending);
    return LoadedModel._(descriptor, kept, given, ending, session, proofs, hasUsualThreads: options.threads == 0);
  }

  /// On the first of `providers` that starts, or on the CPU.
  static Future<Session> _opened(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles files,
    List<Provider>? providers, [
    int threads = 0,
  ]) => openSession(
    descriptor,
    options,
    files,
    providersOf(setupOf(descriptor), providers),
    threads > 0 ? threads : options.threads,
  );

  static Future<ModelFiles> _filesOf(ModelDescriptor descriptor, LoadOptions options) async =>
      decrypting(await guarded(filesOf(descriptor.package, options), descriptor), descriptor, options);

  /// Opens a session, and tells how long that took or why it failed.
  static Future<(Session, ModelFiles)> _observed(
    ModelDescriptor descriptor,
    LoadOptions options,
    Future<(Session, ModelFiles)> Function() load,
  ) async {
    final clock = Stopwatch()..start();
    final observer = options.observer;
    try {
      final (session, files) = await load();
      final info = session.outcome.info;
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

  static Future<Session> Function(Provider provider, int threads) _reopener(
    ModelDescriptor descriptor,
    LoadOptions options,
    ModelFiles files,
  ) => (provider, threads) async {
    final (session, _) = await _observed(descriptor, options, () async {
      return (await _opened(descriptor, options, files, [provider], threads), files);
    });
    return session;
  };

  static void Function(ReleaseReason reason) _releaser(String model, LoadOptions options) =>
      (reason) => tell(() => options.observer?.onRelease?.call(ReleaseEvent(model, reason)));

  /// Runs the model on tensors in the order of [ModelDescriptor.inputs]; gives those of its outputs. Those at the places
  /// `held` are [HeldTensor]s, which a later run takes as they are.
  Future<List<Tensor<Object>>> run(
    List<TensorInput<Object>> inputs,
    Cancellation? cancellation, {
    List<int> held = const [],
  }) {
    _serving.followHeat();
    return _called(
      inputs,
      cancellation,
      (fed) => _serving.run(
        (session, {required isRetry}) => _ran(session, fed, cancellation, isRetry: isRetry, held: held),
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
    Session session,
    List<FedTensor> fed,
    Cancellation? cancellation, {
    bool isRetry = false,
    List<int> held = const [],
  }) async {
    void told(Duration duration, ModelException? error, [Duration queued = Duration.zero]) => tell(
      () => _options.observer?.onRun?.call(
        RunEvent(descriptor.name, session.provider, duration, error, queued: queued, isRetry: isRetry),
      ),
    );
    final clock = Stopwatch()..start();
    try {
      final (outputs, duration) = await session.run(fed, cancellation, held: held);
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
      throw ModelException(ModelErrorCode.badOptions, 'runs is $runs, which is not one of 1 to $_mostProfiled');
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
      final found = await tested(
        descriptor,
        each,
        await _files.read(each.file),
        file: info.file,
        least: _serving.latest.outcome.leastTolerance,
        // Not repeated on the CPU: the test is about the provider.
        run: (inputs) => _called(inputs, null, (fed) => _serving.use((session) => _ran(session, fed, null))),
      );
      outputs.addAll(found);
    }
    return SelfTest(model: info.name, file: info.file, provider: provider, outputs: List.unmodifiable(outputs));
  }

  /// Gives the memory of the model back, after the runs that were asked for. Later calls fail with `disposed`.
  Future<void> dispose() => _disposal ??= _dispose();

  Future<void> _dispose() async {
    _ending.cancel();
    await _serving.end();
    await _files.close();
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
