// A release of a channel in the place of the app's own model: the files of it that fit this app.

import 'dart:io';
import 'dart:typed_data';

import '../descriptor.dart';
import '../errors.dart';
import '../files.dart';
import '../options.dart';
import '../storage.dart';
import '../system.dart';
import '../worker.dart';
import 'packaged.dart';
import 'record.dart';
import 'releases.dart';
import 'samples.dart';
import 'store.dart';

const String _inside = 'flutter';

/// A release, and the model that it belongs to.
final class UpdatedRelease {
  /// Takes a release of a channel.
  UpdatedRelease(this._packaged, this.release, this._store) {
    final target = _store.target;
    final ofTarget = release.files.where((each) => each.target == target).toList();
    // A wrapper has files of its own for some models.
    final own = ofTarget.where((each) => each.inside == _inside).toList();
    for (final each in own.isEmpty ? ofTarget.where((each) => each.inside.isEmpty) : own) {
      final provider = Provider.values.asNameMap()[each.provider];
      if (provider != null && each.chips.isEmpty && _runs(each)) _fitting.add((provider, each));
    }
  }

  final PackagedModel _packaged;
  final UpdateStore _store;
  final List<(Provider, ChannelFile)> _fitting = [];

  /// The release in the channel.
  final ChannelRelease release;

  /// Whether this code can run it, on this device or another.
  bool get fits => release.contract == _packaged.contract && _fitting.any((each) => each.$1 == Provider.cpu);

  bool _runs(ChannelFile file) {
    final own = _store.delivery.runtimes[_store.target]!;
    if (file.runtime.split(' (').first == own) return true;
    return file.runtimeRange.isNotEmpty && _isInRange(file, own);
  }

  /// Whether the runtime of this package is the same one, of a version that the file was proved with or a newer one.
  bool _isInRange(ChannelFile file, String own) {
    final (name, version) = _split(own);
    final oldest = releaseNumber(file.runtimeRange);
    final ours = releaseNumber(version);
    return _split(file.runtime).$1 == name && ours >= oldest && ours >> 40 == oldest >> 40;
  }

  (String, String) _split(String runtime) {
    final at = runtime.lastIndexOf(':');
    return at < 0 ? (runtime, '') : (runtime.substring(0, at), runtime.substring(at + 1));
  }

  /// Files that a run with `providers` needs: the first for each, the CPU's, and the samples of these.
  List<Blob> needed(List<Provider> providers) {
    final chosen = [
      for (final provider in {...providers, Provider.cpu}) ?_fitting.where((each) => each.$1 == provider).firstOrNull,
    ];
    return [..._blobsOf(chosen).values];
  }

  Map<String, Blob> _blobsOf(List<(Provider, ChannelFile)> files) => {
    for (final (_, each) in files)
      for (final blob in each.all) blob.sha256: blob,
  };

  /// Whether all files are there that `kept` lists, and those that the CPU needs among them.
  bool isOnDevice(KeptRelease kept) {
    final blobs = _blobsOf(_fitting);
    return kept.files.every((each) => blobs.containsKey(each) && _store.has(blobs[each]!)) &&
        needed(const []).every(_store.has);
  }

  /// Descriptor like that of the app's own model, with the files that are on the device.
  Future<ModelDescriptor> model() async {
    final present = [
      for (final each in _fitting)
        if ([each.$2.file, ...each.$2.data].every(_store.has)) each,
    ];
    return _packaged.descriptor.released(
      version: release.version,
      files: [for (final (provider, file) in present) _modelFile(provider, file)],
      golden: [for (final (_, file) in present) ?await _golden(file)],
    );
  }

  ModelFile _modelFile(Provider provider, ChannelFile file) => ModelFile(
    file.file.packaged,
    providers: [provider],
    // Channels do not say it: releases of a package compute as it was configured.
    isFloat16: setupOf(_packaged.descriptor).files.any((each) => each.isFloat16 && each.providers.contains(provider)),
    settings: file.settings,
    weights: [for (final each in file.data) WeightsFile(each.name, each.packaged)],
  );

  Future<Golden?> _golden(ChannelFile file) async {
    final blob = file.golden;
    if (blob == null || !_store.has(blob)) return null;
    final bytes = await _store.file(blob.sha256).readAsBytes();
    try {
      return Golden(blob.packaged, tested: {file.file.name: file.allowed}, samples: samplesIn(bytes));
    } on FormatException catch (error) {
      throw ModelException(ModelErrorCode.badModel, 'its samples cannot be read: ${error.message}');
    }
  }

  /// Files that are on the device.
  ModelFiles get files => _Stored(_store);
}

final class _Stored extends ModelFiles {
  _Stored(this._store);

  final UpdateStore _store;
  final Map<String, Lease> _leases = {};

  @override
  SourceKind get kind => SourceKind.updater;

  @override
  Future<PlacedFile> place(PackagedFile file, String reference) async {
    _leases[file.sha256] ??= await Lease.of(_store.file(file.sha256)) ?? (throw _missing(file));
    if (!_store.hasFile(file.sha256, file.sizeBytes)) throw _missing(file);
    return PlacedFile.at(_store.file(file.sha256).path, reference, file.sha256);
  }

  @override
  Future<ByteData> read(PackagedFile file) async {
    try {
      return ByteData.sublistView(await _store.file(file.sha256).readAsBytes());
    } on FileSystemException {
      throw _missing(file);
    }
  }

  @override
  Future<void> close() async {
    final all = [..._leases.values];
    _leases.clear();
    for (final each in all) {
      await each.end();
    }
  }

  ModelException _missing(PackagedFile file) =>
      ModelException(ModelErrorCode.missing, '${file.name} is not on the device any more');
}
