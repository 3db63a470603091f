// Options for loading a model, and what an app is told of it.

import 'dart:async';
import 'dart:typed_data';

import 'cancellation.dart';
import 'errors.dart';
import 'policies.dart';
import 'proof.dart';
import 'providers.dart';

export 'providers.dart' show Provider;

/// The kinds of [ModelSource].
enum SourceKind {
  /// [ModelSource.bundled].
  bundled,

  /// [ModelSource.folder].
  folder,

  /// [ModelSource.path].
  path,

  /// [ModelSource.url].
  url,

  /// The source of a package's updater.
  updater,
}

/// Where the files of a model come from.
sealed class ModelSource {
  const ModelSource();

  /// From the package: an asset of a Flutter app, or a file below the package's folder in a program of Dart alone.
  const factory ModelSource.bundled() = BundledSource;

  /// From a folder on the device, where each of the package's files has its own name or its SHA-256 in hexadecimal.
  const factory ModelSource.folder(String path) = FolderSource;

  /// One file of the app's own, whatever its numbers: it must have this model's inputs and outputs. `sha256`, in
  /// hexadecimal, is what it must have.
  const factory ModelSource.path(String path, {String? sha256}) = PathSource;

  /// From a server: `address` is that of a folder, with `https` and a `/` at its end, in which each file lies under its
  /// SHA-256, as `mobpack extract` lays them out. What is needed is downloaded once; a download that was interrupted goes
  /// on where it ended.
  const factory ModelSource.url(String address) = UrlSource;
}

/// [ModelSource.bundled].
final class BundledSource extends ModelSource {
  /// The package's own files.
  const BundledSource();
}

/// [ModelSource.folder].
final class FolderSource extends ModelSource {
  /// The files in a folder.
  const FolderSource(this.path);

  /// Path of the folder.
  final String path;
}

/// [ModelSource.path].
final class PathSource extends ModelSource {
  /// A file.
  const PathSource(this.path, {this.sha256});

  /// Path of the file.
  final String path;

  /// SHA-256 that the file must have; null for any.
  final String? sha256;
}

/// [ModelSource.url].
final class UrlSource extends ModelSource {
  /// The files in a folder of a server.
  const UrlSource(this.address);

  /// Address of the folder.
  final String address;
}

/// A source that this package makes, such as that of an updater.
abstract base class MadeSource extends ModelSource {
  /// For classes that know how to open its models.
  const MadeSource();
}

/// The kind of a source.
SourceKind kindOf(ModelSource source) => switch (source) {
  BundledSource() => SourceKind.bundled,
  FolderSource() => SourceKind.folder,
  PathSource() => SourceKind.path,
  UrlSource() => SourceKind.url,
  MadeSource() => SourceKind.updater,
};

/// How the files of a model are checked when they are opened, by their SHA-256. Pages always check all of them.
enum Verify {
  /// Every byte of a file once; later, unless it is another file or was written to since, its first and last 64 KiB.
  once,

  /// Every byte each time.
  always,
}

/// Options for loading and running a model. Omitted options have the package's defaults.
final class LoadOptions {
  /// Takes options, each of which has a default.
  const LoadOptions({
    this.source = const ModelSource.bundled(),
    this.providers,
    this.proof,
    this.providerOptions = const {},
    this.threads = 0,
    this.tuned = true,
    this.spinning = false,
    this.queue = 64,
    this.observer,
    this.policies = const Policies(),
    this.allowOtherRuntime = false,
    this.folder,
    this.onProgress,
    this.cancellation,
    this.keys,
    this.verify = Verify.once,
    this.library,
  });

  /// Where its files come from.
  final ModelSource source;

  /// Tried in this order, [Provider.cpu] after all others; the first one that starts runs the model, or with [proof] the
  /// first one that is proved on this device. Null for the order of the package.
  final List<Provider>? providers;

  /// Proves each provider on this device before it is used, once after an update of the app or the system: one that fails
  /// on the model's samples, takes fewer nodes than it should, computes other numbers or is slower than the CPU is left
  /// out. [ModelInfo.proofs] says why. Null for whatever starts.
  final Proof? proof;

  /// Settings by provider, under ONNX Runtime's names for them. They override all others. The CPU has none.
  final Map<Provider, Map<String, String>> providerOptions;

  /// Threads of a run, 256 at most; 0 for four, or as many as the device has processors.
  final int threads;

  /// Whether a package with settings for some chips, of `mobpack tune`, follows them where [providers], [threads] and
  /// [providerOptions] say nothing. Pages have none.
  final bool tuned;

  /// Whether threads spin while they wait for work: that takes energy for somewhat shorter runs.
  final bool spinning;

  /// Calls that may be under way or wait for their turn: one more fails with `busy`.
  final int queue;

  /// Is told of loading, runs and disposal.
  final ModelObserver? observer;

  /// Actions that the model takes by itself when a provider fails, memory is short or the device is hot.
  final Policies policies;

  /// Run on a version of ONNX Runtime that is older than those that the package was tested with.
  final bool allowOtherRuntime;

  /// The folder for downloads; null for one of the app's that the system does not back up, or may empty.
  final String? folder;

  /// Is told how many bytes of the files that a load needs from a server are there, and how many they have.
  final void Function(int loadedBytes, int totalBytes)? onProgress;

  /// Ends the downloads of the load, which fails with `cancelled` then. What has come is kept.
  final Cancellation? cancellation;

  /// The 32 bytes of a key by its name, for packages whose models are encrypted. What it throws ends the load, with `key`.
  final FutureOr<Uint8List> Function(String id)? keys;

  /// How files are checked when they are opened.
  final Verify verify;

  /// ONNX Runtime's library: a name that the system finds, or a path. Null for that of the package: Android's and
  /// Apple's builds bring it; on Linux and Windows it is the one of the build hook, else one beside the program, else
  /// what the system finds under its name.
  final String? library;

  /// The same options for another source.
  LoadOptions withSource(ModelSource source) =>
      _with(source: source, providers: providers, providerOptions: providerOptions, threads: threads);

  /// The same options with other settings.
  LoadOptions withSettings({
    required List<Provider>? providers,
    required Map<Provider, Map<String, String>> providerOptions,
    required int threads,
  }) => _with(source: source, providers: providers, providerOptions: providerOptions, threads: threads);

  /// The same options of a model that is open: nobody is told of downloads any more, and `ending` ends them.
  LoadOptions opened(Cancellation ending) =>
      _with(source: source, providers: providers, providerOptions: providerOptions, threads: threads, ending: ending);

  LoadOptions _with({
    required ModelSource source,
    required List<Provider>? providers,
    required Map<Provider, Map<String, String>> providerOptions,
    required int threads,
    Cancellation? ending,
  }) => LoadOptions(
    source: source,
    providers: providers,
    proof: proof,
    providerOptions: providerOptions,
    threads: threads,
    tuned: tuned,
    spinning: spinning,
    queue: queue,
    observer: observer,
    policies: policies,
    allowOtherRuntime: allowOtherRuntime,
    folder: folder,
    onProgress: ending == null ? onProgress : null,
    cancellation: ending ?? cancellation,
    keys: keys,
    verify: verify,
    library: library,
  );

  /// Throws ModelException `badOptions`.
  void check() {
    if (threads < 0 || threads > 256)
      throw ModelException(ModelErrorCode.badOptions, 'threads is $threads, which is not one of 0 to 256');
    if (queue < 1) throw ModelException(ModelErrorCode.badOptions, 'queue is $queue, the least is 1');
  }
}

/// A provider that was asked for and did not start.
final class Fallback {
  /// Made by this package.
  const Fallback(this.provider, this.reason);

  /// The one that did not start.
  final Provider provider;

  /// In most cases ONNX Runtime's message.
  final String reason;

  @override
  String toString() => '${provider.name}: $reason';
}

/// Identifies a model.
final class ModelInfo {
  /// Made by this package.
  const ModelInfo({
    required this.name,
    required this.version,
    required this.file,
    required this.sha256,
    required this.sizeBytes,
    required this.onnxRuntimeVersion,
    this.proofs = const [],
  });

  /// Its name in the package's configuration.
  final String name;

  /// Version of the package that contains it.
  final String version;

  /// Name of the file that was opened, or the path of the app's own. Providers may have separate files.
  final String file;

  /// SHA-256 of that file, in hexadecimal; empty for a file of the app's own whose SHA-256 was not given.
  final String sha256;

  /// Its size, including weights in separate files.
  final int sizeBytes;

  /// Version of the ONNX Runtime in the app.
  final String onnxRuntimeVersion;

  /// Verdicts of [LoadOptions.proof] on the providers, up to the first one that is proved; empty without that option.
  final List<ProviderProof> proofs;

  /// The same with verdicts.
  ModelInfo withProofs(List<ProviderProof> proofs) => ModelInfo(
    name: name,
    version: version,
    file: file,
    sha256: sha256,
    sizeBytes: sizeBytes,
    onnxRuntimeVersion: onnxRuntimeVersion,
    proofs: proofs,
  );

  @override
  String toString() =>
      '$name $version, $file, $sizeBytes bytes${sha256.isEmpty ? '' : ', sha256 $sha256'}, ONNX Runtime $onnxRuntimeVersion';
}

/// A model was loaded.
final class LoadEvent {
  /// Made by this package.
  const LoadEvent(this.info, this.provider, this.fallbacks, this.source, this.duration, {this.memoryBytes});

  /// The model that was loaded.
  final ModelInfo info;

  /// The provider that runs it.
  final Provider provider;

  /// Providers that did not start.
  final List<Fallback> fallbacks;

  /// Where its files came from.
  final SourceKind source;

  /// From the call of `load` on.
  final Duration duration;

  /// Bytes of the process that are resident after loading; null where the platform does not tell.
  final int? memoryBytes;

  @override
  String toString() => [
    '${info.name} ${info.version} was loaded on ${provider.name} in ${_inWords(duration)}, from ${source.name}',
    for (final each in fallbacks) 'without $each',
  ].join('; ');
}

/// A run has ended. Calls that are refused before they are queued, with `badInput`, `busy` or `disposed`, are no runs.
final class RunEvent {
  /// Made by this package.
  const RunEvent(
    this.model,
    this.provider,
    this.duration,
    this.error, {
    this.queued = Duration.zero,
    this.isRetry = false,
  });

  /// Name of the model.
  final String model;

  /// The provider that ran it.
  final Provider provider;

  /// How long it waited for its turn; zero for one that failed, whose [duration] is all its time.
  final Duration queued;

  /// From then on until its outputs were there.
  final Duration duration;

  /// Null of a run that succeeded.
  final ModelException? error;

  /// Whether it repeated on the CPU a run that another provider had failed at.
  final bool isRetry;

  @override
  String toString() {
    final what = '$model ran on ${provider.name} in ${_inWords(duration)}, after ${_inWords(queued)} in the queue';
    return [what, if (isRetry) 'once more', if (error != null) 'and failed: $error'].join(', ');
  }
}

/// A model could not be loaded.
final class FailureEvent {
  /// Made by this package.
  const FailureEvent(this.model, this.error, this.duration);

  /// Name of the model.
  final String model;

  /// Why.
  final ModelException error;

  /// From the call of `load` on.
  final Duration duration;

  @override
  String toString() => '$model was not loaded in ${_inWords(duration)}: $error';
}

/// A release that an updater brought has failed on this device: it is not tried again for some time.
final class BanEvent {
  /// Made by this package.
  const BanEvent(this.model, this.version, this.reason);

  /// Name of the model.
  final String model;

  /// Version of the release.
  final String version;

  /// Why.
  final String reason;

  @override
  String toString() => '$model $version is not tried for some time: $reason';
}

/// Why the memory of a model is given back.
enum ReleaseReason {
  /// The app disposed of it.
  close,

  /// Memory is short: the next run opens it again.
  memory,

  /// The device has become too hot, or cool again: it was opened with other threads.
  thermal,
}

/// The memory of a model is given back.
final class ReleaseEvent {
  /// Made by this package.
  const ReleaseEvent(this.model, this.reason);

  /// Name of the model.
  final String model;

  /// Why.
  final ReleaseReason reason;

  @override
  String toString() => '$model was released: ${reason.name}';
}

String _inWords(Duration duration) => '${(duration.inMicroseconds / 1000).toStringAsFixed(1)} ms';

/// Is told what models do: an option of `load`. Its functions are called in the isolate that loads the model; what one of
/// them throws is logged, and ends nothing.
final class ModelObserver {
  /// Takes functions, each of which is optional.
  const ModelObserver({this.onLoad, this.onRun, this.onFailure, this.onRelease, this.onBan});

  /// A model was loaded, or opened again after it had been released.
  final void Function(LoadEvent event)? onLoad;

  /// A run has ended.
  final void Function(RunEvent event)? onRun;

  /// A model could not be loaded.
  final void Function(FailureEvent event)? onFailure;

  /// The memory of a model is given back.
  final void Function(ReleaseEvent event)? onRelease;

  /// A release that an updater brought was banned.
  final void Function(BanEvent event)? onBan;
}
