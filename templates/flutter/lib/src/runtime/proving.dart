// Opens a model on the first provider that is proved on this device.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';

import 'cancellation.dart';
import 'comparison.dart';
import 'descriptor.dart';
import 'digest.dart';
import 'errors.dart';
import 'feeding.dart';
import 'files.dart';
import 'memory.dart';
import 'options.dart';
import 'presence.dart';
import 'proof.dart';
import 'proof_record.dart';
import 'reopening.dart';
import 'session.dart';
import 'starting.dart';
import 'system.dart';
import 'tensor.dart';

/// A provider may take so many times as long as the CPU.
const double _slack = 1.1;

const ModelException _cancelled = ModelException(ModelErrorCode.cancelled, 'the load was cancelled');

/// How often it is looked whether the app is there.
const Duration _watch = Duration(milliseconds: 200);

/// Opens a session, and tells the verdicts that it stands on, up to the first provider that is proved.
///
/// Throws what [openSession] throws.
Future<(Session, List<ProviderProof>)> openProved(
  ModelDescriptor descriptor,
  LoadOptions options,
  ModelFiles files,
  Proof proof,
) async {
  final setup = setupOf(descriptor);
  final runtime = await runtimeVersion(descriptor, options);
  _Prover prover(Cancellation? cancellation) =>
      _Prover(descriptor, setup, options, files, runtime, proof.limit, cancellation);
  final now = prover(options.cancellation);
  if (!proof.inBackground) return now.opened(await now.examined());
  final opened = await now.opened(await now.verdicts(isExamining: false));
  unawaited(_examineLater(prover(null)));
  return opened;
}

Future<void> _examineLater(_Prover prover) async {
  try {
    await prover.examined();
  } on ModelException {
    // The next load finds what was decided until then.
  }
  await prover.proved?.close();
}

final class _Prover {
  _Prover(this._descriptor, this._setup, this._options, this._files, this._runtime, this._limit, this._cancellation)
    : _record = ProofRecord.of(_descriptor.package, _descriptor.name, _options);

  final ModelDescriptor _descriptor;
  final PlatformSetup _setup;
  final LoadOptions _options;
  final ModelFiles _files;
  final String _runtime;
  final Duration _limit;
  final Cancellation? _cancellation;
  final ProofRecord _record;

  /// Runs while a provider or the CPU is examined.
  final Stopwatch _clock = Stopwatch();
  double? _cpuSeconds;

  /// The session of the provider that was proved just now.
  Session? proved;

  Future<(Session, List<ProviderProof>)> opened(List<ProviderProof> proofs) async {
    final left = [
      for (final each in proofs)
        if (!each.isProved) Fallback(each.provider, each.reason),
    ];
    final known = [
      for (final each in proofs)
        if (each.isProved) each.provider,
    ];
    final session =
        proved ?? await openSession(_descriptor, _options, _files, [...known, Provider.cpu], _options.threads);
    return (session.besides(left), List<ProviderProof>.unmodifiable(proofs));
  }

  /// Another proof of the model waits meanwhile, for the verdicts of this one.
  Future<List<ProviderProof>> examined() => _record.alone(() => verdicts(isExamining: true), _check);

  void _check() {
    if (_cancellation?.isCancelled ?? false) throw _cancelled;
  }

  /// Verdicts up to the first provider that is proved.
  Future<List<ProviderProof>> verdicts({required bool isExamining}) async {
    final found = <ProviderProof>[];
    final chip = Platform.isAndroid ? chipName() : '';
    for (final provider in providersOf(_setup, _options.providers)) {
      if (provider == Provider.cpu || (found.lastOrNull?.isProved ?? false)) break;
      var proof = ProviderProof(provider, isProved: false, reason: noFile);
      for (final file in filesFor(provider, _setup, chip)) {
        final verdict = await _verdict(provider, file, isExamining: isExamining);
        proof = ProviderProof(
          provider,
          isProved: verdict.state == 'proved',
          reason: verdict.reason,
          seconds: verdict.seconds,
          cpuSeconds: verdict.cpuSeconds,
        );
        if (proof.isProved) break;
      }
      found.add(proof);
    }
    return found;
  }

  Future<Verdict> _verdict(Provider provider, ModelFile file, {required bool isExamining}) async {
    final trying = Verdict(provider.registeredName, file.file.sha256, _device(provider, file));
    final golden = await _samples(file);
    if (golden == null) return trying.undecided('the package has no samples of the model to prove it with');
    final known = await _record.like(trying);
    if (known != null && known.isDecided) return known;
    if (!isExamining) return trying.undecided('was not examined: the proof goes on in the background');
    if (known != null) return _kept(trying.refused('ended the process when it was tried'));
    // It takes its time, which is none of the provider's.
    await _files.fetch([file.file, for (final each in file.weights) each.file]);
    if (_clock.elapsed >= _limit) return trying.undecided(_isOver);
    // Systems keep providers from apps in the background: what fails there says nothing, nor does the app's end.
    var wasLeft = isAppLeft();
    if (!wasLeft) await _record.write(trying);
    final watching = Timer.periodic(_watch, (_) {
      if (wasLeft || !isAppLeft()) return;
      wasLeft = true;
      unawaited(_record.remove(trying));
    });
    var verdict = trying;
    try {
      verdict = await _examined(provider, file, golden, trying);
    } on ModelException catch (failure) {
      if (!providerFaults.contains(failure.code)) rethrow;
      verdict = trying.refused(failure.message);
    } finally {
      watching.cancel();
      await (wasLeft || !verdict.isDecided ? _record.remove(verdict) : _record.write(verdict));
    }
    return verdict;
  }

  Future<Verdict> _kept(Verdict verdict) async {
    await _record.write(verdict);
    return verdict;
  }

  Future<Verdict> _examined(Provider provider, ModelFile file, Golden golden, Verdict verdict) async {
    final isFirst = _clock.elapsed == Duration.zero;
    final trial = await _tried(provider, file, golden);
    if (trial == null) {
      return isFirst ? verdict.refused('did not answer within ${_inSeconds(_limit)}') : verdict.undecided(_isOver);
    }
    final seconds = trial.seconds;
    if (seconds == null) {
      unawaited(trial.session.close());
      return verdict.refused(trial.failure);
    }
    final cpuSeconds = _cpuSeconds ??= await _secondsOnCpu();
    if (cpuSeconds == null || seconds > cpuSeconds * _slack) {
      unawaited(trial.session.close());
      _check();
      if (cpuSeconds == null) return verdict.undecided(_isOver);
      final words = 'slower than the CPU: ${_inMilliseconds(seconds)} instead of ${_inMilliseconds(cpuSeconds)}';
      return verdict.refused(words, seconds, cpuSeconds);
    }
    proved = trial.session;
    return verdict.proved(seconds, cpuSeconds);
  }

  /// Null where the CPU has not come to its end.
  Future<double?> _secondsOnCpu() async {
    final file = filesFor(Provider.cpu, _setup, '').firstOrNull;
    final golden = file == null ? null : await _samples(file);
    if (golden == null) return null;
    try {
      final trial = await _tried(Provider.cpu, file!, golden);
      unawaited(trial?.session.close());
      return trial?.seconds;
    } on ModelException {
      return null;
    }
  }

  String get _isOver => 'was not examined: the ${_inSeconds(_limit)} of the proof were over';

  /// Runs the samples in an isolate of its own, which is left behind where it does not answer in time: null then.
  Future<_Trial?> _tried(Provider provider, ModelFile file, Golden golden) async {
    final ending = Cancellation();
    final end = Completer<_Trial?>();
    // Clocks of tests stand still in their zones.
    final timer = Zone.root.run(
      () => Timer(_limit - _clock.elapsed, () => end.isCompleted ? null : end.complete(null)),
    );
    final forget = _cancellation?.listen(() => end.isCompleted ? null : end.completeError(_cancelled));
    unawaited(
      _trial(provider, file, golden, ending).then(
        (trial) => end.isCompleted ? unawaited(trial.session.close()) : end.complete(trial),
        onError: (Object error, StackTrace trace) => end.isCompleted ? null : end.completeError(error, trace),
      ),
    );
    _clock.start();
    try {
      final trial = await end.future;
      if (trial == null) ending.cancel();
      return trial;
    } on Object {
      ending.cancel();
      rethrow;
    } finally {
      _clock.stop();
      timer.cancel();
      forget?.call();
    }
  }

  Future<_Trial> _trial(Provider provider, ModelFile file, Golden golden, Cancellation ending) async {
    final session = await openSession(_descriptor, _options, _files, [provider], _options.threads, only: file);
    try {
      final assignment = session.outcome.assignment;
      final taken = assignment?.where((each) => each.provider == provider).fold(0, (sum, each) => sum + each.nodes);
      final promised = file.nodes[provider] ?? 0;
      if (taken != null && taken < promised) {
        return _Trial(session, failure: 'took $taken nodes; the build saw it take $promised');
      }
      final bytes = await _files.read(golden.file);
      var fastest = double.infinity;
      Future<String> wrong(Golden golden) async {
        final outputs = await tested(
          _descriptor,
          golden,
          bytes,
          file: file.file.name,
          least: session.outcome.leastTolerance,
          run: (inputs) async {
            final (outputs, duration) = await _ran(session, inputs, ending);
            fastest = min(fastest, duration.inMicroseconds / Duration.microsecondsPerSecond);
            return outputs;
          },
        );
        final failed = outputs.where((each) => !each.passed).firstOrNull;
        return failed == null ? '' : 'computed other numbers: $failed';
      }

      final failure = await wrong(golden);
      if (failure.isNotEmpty) return _Trial(session, failure: failure);
      final first = Golden(golden.file, tested: golden.tested, samples: [...golden.samples.take(1)]);
      fastest = double.infinity;
      for (var run = 0; run < 3; run++) {
        await wrong(first);
      }
      return _Trial(session, seconds: fastest);
    } on Object {
      unawaited(session.close());
      rethrow;
    }
  }

  Future<(List<Tensor<Object>>, Duration)> _ran(
    Session session,
    List<TensorInput<Object>> inputs,
    Cancellation ending,
  ) async {
    final memory = Arena();
    try {
      final fed = [
        for (final (index, each) in inputs.indexed) fedTensor(index, _descriptor.inputs[index], each, memory),
      ];
      return await session.run(fed, ending);
    } finally {
      memory.free();
    }
  }

  /// Samples for a file; null where the package has none, or the app has left them out.
  Future<Golden?> _samples(ModelFile file) async {
    if (_files.kind == SourceKind.path) return null;
    final found = _descriptor.golden.where((each) => each.tested.containsKey(file.file.name)).firstOrNull;
    try {
      if (found != null) await _files.read(found.file);
      return found;
    } on ModelException {
      _check();
      return null;
    }
  }

  String _device(Provider provider, ModelFile file) {
    final own = _options.providerOptions[provider] ?? const {};
    var settings = own;
    try {
      settings = settingsOf(_descriptor, _setup, provider, file, own, threads: _options.threads, runtime: _runtime);
    } on ModelException {
      // The provider does not start, and has a verdict all the same.
    }
    final facts = [
      // Android gives each version of an app a folder of its own; elsewhere it has a program.
      if (Platform.isAndroid) folderOfLoaded('base.apk') ?? '',
      '${File(Platform.resolvedExecutable).statSync().modified}',
      Platform.operatingSystemVersion,
      androidProperty('ro.build.fingerprint'),
      _runtime,
      _descriptor.version,
      '${_options.threads} ${_options.spinning}',
      ...[for (final MapEntry(:key, :value) in settings.entries) '$key=$value']..sort(),
    ];
    final digest = Sha256()..add(utf8.encode(facts.join('\n')));
    return hexOf(digest.close()).substring(0, 16);
  }
}

/// Result of running a model's samples on a provider.
final class _Trial {
  const _Trial(this.session, {this.seconds, this.failure = ''});

  final Session session;

  /// Seconds of the fastest run of the first sample; null where something is wrong.
  final double? seconds;

  /// Why the provider is left out.
  final String failure;
}

String _inSeconds(Duration duration) => '${(duration.inMilliseconds / 1000).toStringAsFixed(1)} s';

String _inMilliseconds(double seconds) => '${(seconds * 1000).toStringAsFixed(1)} ms';
