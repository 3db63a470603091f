// The session of a model: its files, the provider that starts, and its runs.

import 'dart:ffi';
import 'dart:io';

import 'assignment.dart';
import 'cancellation.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'feeding.dart';
import 'files.dart';
import 'library.dart';
import 'onnxruntime.dart';
import 'options.dart';
import 'reopening.dart';
import 'starting.dart';
import 'storage.dart';
import 'system.dart';
import 'tensor.dart';
import 'versions.dart';
import 'worker.dart';

/// The options of every session: models are read where they are.
const Map<String, String> _always = {
  'session.use_ort_model_bytes_directly': '1',
  'session.use_ort_model_bytes_for_initializers': '1',
  'session.record_ep_graph_assignment_info': '1',
};

/// Why a provider is left out that has no file.
const String noFile = 'the package has no file for it';

/// The version of ONNX Runtime that opens a model.
///
/// Throws ModelException for one that is too old, or not there.
Future<String> runtimeVersion(ModelDescriptor descriptor, LoadOptions options) async =>
    (await _runtimeOf(descriptor, options)).$2.version;

Future<(RuntimeLibrary, OnnxRuntime)> _runtimeOf(ModelDescriptor descriptor, LoadOptions options) async {
  final library = await findLibrary(descriptor.package, options.library, descriptor.library);
  final runtime = OnnxRuntime.open(library);
  _checkVersion(runtime.version, setupOf(descriptor), options);
  return (library, runtime);
}

/// Opens a session of a model on the first of `providers` that starts, with the files that each has, or with one alone.
///
/// Throws ModelException.
Future<Session> openSession(
  ModelDescriptor descriptor,
  LoadOptions options,
  ModelFiles files,
  List<Provider> providers,
  int threads, {
  ModelFile? only,
}) async {
  final setup = setupOf(descriptor);
  final (library, runtime) = await _runtimeOf(descriptor, options);
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
      threads > 0 ? threads : usualThreads,
    );
    final outcome = await _open(attempt, providers, fallbacks, only);
    return Session(descriptor, runtime, worker, outcome, List.unmodifiable(fallbacks));
  } on Object {
    await worker.close();
    rethrow;
  }
}

Future<Outcome> _open(_Attempt attempt, List<Provider> providers, List<Fallback> fallbacks, ModelFile? only) async {
  ModelException? failure;
  final chip = Platform.isAndroid ? chipName() : '';
  for (final provider in providers) {
    final files = only == null ? filesFor(provider, attempt.setup, chip) : [only];
    if (files.isEmpty) fallbacks.add(Fallback(provider, noFile));
    // A file that needs arithmetic that the device lacks has another one behind it.
    for (final file in files) {
      try {
        final outcome = await _start(attempt, provider, file);
        if (!hasNoNode(provider, outcome.assignment)) return outcome;
        throw const ModelException(ModelErrorCode.runtime, 'took no node of the model');
      } on ModelException catch (error) {
        if (!providerFaults.contains(error.code)) rethrow;
        failure = error;
      }
    }
    if (files.isNotEmpty) fallbacks.add(Fallback(provider, failure?.message ?? ''));
  }
  throw failure ?? const ModelException(ModelErrorCode.unsupported, 'the package has no file for the CPU');
}

Future<Outcome> _start(_Attempt attempt, Provider provider, ModelFile file) async {
  final descriptor = attempt.descriptor;
  final source = attempt.options.source;
  final files = attempt.files;
  final settings = _settings(attempt, provider, file);
  Future<OpenedSession> open(PlacedFile model, List<PlacedFile> weights) =>
      attempt.worker.open(attempt.library, model, weights, settings);
  final notes = notesOf(descriptor.package, attempt.options);
  final PlacedFile model;
  final OpenedSession opened;
  if (source is PathSource && files.kind == SourceKind.path) {
    model = (await files.own(source)).notedIn(notes);
    opened = await open(model, const []);
  } else {
    (model, opened) = await _placed(files, file, notes, open);
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
  return Outcome(provider, info, opened, leastTolerance(provider, settings.options));
}

/// Opens files of the package; once more where some had other bytes and came anew.
Future<(PlacedFile, OpenedSession)> _placed(
  ModelFiles given,
  ModelFile file,
  String? notes,
  Future<OpenedSession> Function(PlacedFile model, List<PlacedFile> weights) open,
) async {
  final all = [file.file, for (final each in file.weights) each.file];
  await given.fetch(all);
  Future<(PlacedFile, OpenedSession)> placed() async {
    Future<PlacedFile> place(PackagedFile file, String name) async => (await given.place(file, name)).notedIn(notes);
    final model = await place(file.file, file.file.name);
    final weights = [for (final each in file.weights) await place(each.file, each.reference)];
    return (model, await open(model, weights));
  }

  try {
    return await placed();
  } on ModelException catch (error) {
    if (error.code != ModelErrorCode.corrupted || !await given.repair(all)) rethrow;
    return placed();
  }
}

/// A session in an isolate of its own.
final class Session implements Served {
  /// Takes a session that a worker has opened.
  Session(this._descriptor, this._runtime, this._worker, this.outcome, this.fallbacks);

  final ModelDescriptor _descriptor;
  final OnnxRuntime _runtime;
  final Worker _worker;

  /// Facts about the session that was opened.
  final Outcome outcome;

  @override
  final List<Fallback> fallbacks;

  /// The session, after others that were left out.
  Session besides(List<Fallback> others) =>
      Session(_descriptor, _runtime, _worker, outcome, List.unmodifiable([...others, ...fallbacks]));

  @override
  Provider get provider => outcome.provider;

  @override
  bool get isEnded => _worker.isEnded;

  @override
  Future<void> close() => _worker.close();

  /// Inputs by their places in this session, of those in the order of the descriptor.
  List<FedTensor> _placed(List<FedTensor> fed) => [
    for (final each in fed) each.at(outcome.inputPlaces[_descriptor.inputs[each.place].name]!),
  ];

  /// Outputs in the order of the descriptor, and how long the run took. Those at the places `held` stay where they are.
  Future<(List<Tensor<Object>>, Duration)> run(
    List<FedTensor> fed,
    Cancellation? cancellation, {
    List<int> held = const [],
  }) async {
    final options = cancellation == null ? nullptr : _runtime.runOptions();
    final forget = cancellation?.listen(() => _runtime.check(_runtime.api.runOptionsSetTerminate(options)));
    try {
      final ran = await _worker.run(_placed(fed), options.address);
      final copied = {...ran.outputs};
      try {
        final outputs = <Tensor<Object>>[];
        for (final (place, spec) in _descriptor.outputs.indexed) {
          final given = ran.outputs[outcome.outputPlaces[spec.name]!];
          if (held.contains(place) && given.texts == null) {
            outputs.add(heldTensor(_runtime, given));
            copied.remove(given);
          } else {
            outputs.add(copiedTensor(given));
          }
        }
        return (outputs, ran.duration);
      } finally {
        copied.forEach(_runtime.releaseValue);
      }
    } finally {
      forget?.call();
      if (options != nullptr) _runtime.api.releaseRunOptions(options);
    }
  }

  /// Runs a second session a number of times: the path of ONNX Runtime's trace, which begins with `prefix`.
  Future<String> profile(List<FedTensor> fed, int runs, String prefix) => _worker.profile(_placed(fed), runs, prefix);
}

/// Result of starting a provider.
final class Outcome {
  /// Result of a provider that has started.
  Outcome(this.provider, this.info, OpenedSession opened, this.leastTolerance)
    : assignment = assignmentOf(opened.assigned, provider),
      inputPlaces = {for (final (index, each) in opened.inputs.indexed) each.name: index},
      outputPlaces = {for (final (index, each) in opened.outputs.indexed) each.name: index};

  /// The provider that has started.
  final Provider provider;

  /// Identifies the file.
  final ModelInfo info;

  /// How far outputs may be off, whatever the tolerance of the file.
  final double leastTolerance;

  /// The share of the model that each provider runs.
  final List<ProviderAssignment>? assignment;

  /// By the names of inputs.
  final Map<String, int> inputPlaces;

  /// By the names of outputs.
  final Map<String, int> outputPlaces;
}

/// Number of the device's processors, four at most.
int get usualThreads => Platform.numberOfProcessors < 4 ? Platform.numberOfProcessors : 4;

/// Facts that all attempts to open a model have in common.
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
