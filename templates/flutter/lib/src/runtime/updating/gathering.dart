// Gets files of a release from a channel: as deltas to files that the device has, where that is less.

import 'dart:io';
import 'dart:isolate';

import '../descriptor.dart';
import '../download.dart';
import '../errors.dart';
import '../files.dart';
import '../requests.dart';
import '../storage.dart';
import '../system.dart';
import 'delta.dart';
import 'releases.dart';
import 'states.dart';
import 'store.dart';

/// The downloads of one release.
final class Gathering {
  /// From the folder at `address`; `tell` hears how far they are.
  Gathering(this._address, this._model, this._store, this._requests, this._tell);

  final Uri _address;
  final ModelDescriptor _model;
  final UpdateStore _store;
  final Requests _requests;
  final void Function(UpdatePhase phase, int loadedBytes, int totalBytes) _tell;
  int _before = 0;
  int _total = 0;

  late final Map<String, PackagedFile> _packaged = {
    for (final file in setupOf(_model).files)
      for (final each in [file.file, ...file.weights.map((weights) => weights.file)]) each.sha256: each,
    for (final golden in _model.golden) golden.file.sha256: golden.file,
  };

  /// Bytes to download for `blobs`.
  int sizeOfDownloads(List<Blob> blobs) => _missing(blobs)
      .where((each) => !_packaged.containsKey(each.sha256))
      .fold(0, (sum, each) => sum + (_deltaFor(each)?.sizeBytes ?? each.sizeBytes));

  /// Bytes that `blobs` take on the device while they are made.
  int storageFor(List<Blob> blobs) =>
      _missing(blobs).fold(0, (sum, each) => sum + each.sizeBytes + (_deltaFor(each)?.sizeBytes ?? 0));

  /// Throws ModelException as a download does.
  Future<void> get(List<Blob> blobs) async {
    _total = sizeOfDownloads(blobs);
    for (final blob in _missing(blobs)) {
      if (await _isCopied(blob)) continue;
      final delta = _deltaFor(blob);
      if (delta == null || !await _isPatched(blob, delta)) await _fetch(blob);
    }
  }

  List<Blob> _missing(List<Blob> blobs) => [
    for (final each in blobs)
      if (!_store.has(each)) each,
  ];

  Blob? _deltaFor(Blob blob) {
    final useful = blob.deltas.where((each) => each.sizeBytes < blob.sizeBytes && _isHere(each.name)).toList();
    if (useful.isEmpty) return null;
    return useful.reduce((one, other) => other.sizeBytes < one.sizeBytes ? other : one);
  }

  bool _isHere(String sha256) => _store.file(sha256).existsSync() || _packaged.containsKey(sha256);

  /// Takes a file that the app has, too, from there; false where it has none, or cannot read it.
  Future<bool> _isCopied(Blob blob) async {
    final file = _packaged[blob.sha256];
    return file != null && await _isMade(blob, (result) => _copy(file, result));
  }

  /// False when the delta is of no use, whatever the reason: the whole file is fetched then.
  Future<bool> _isPatched(Blob blob, Blob delta) async {
    final target = _store.file(delta.sha256);
    try {
      return await _isMade(blob, (result) async {
        await _fetch(delta);
        _tell(UpdatePhase.patching, _before, _total);
        final source = await _source(delta.name);
        final made = await _patched(source.path, target.path, result.path, blob.sizeBytes);
        if (made != blob.sha256) throw DeltaException('it makes another file, $made');
      });
    } finally {
      await remove(target);
      await remove(_borrowed(delta.name));
    }
  }

  /// Calls `make` to write the file, and puts it in its place; false when that is not possible.
  Future<bool> _isMade(Blob blob, Future<void> Function(File result) make) async {
    final unfinished = File('${_store.file(blob.sha256).path}.made');
    String reason;
    try {
      await createUnsaved(_store.files);
      await make(unfinished);
      _requests.check();
      await putInPlace(unfinished, _store.file(blob.sha256));
      return true;
    } on DeltaException catch (useless) {
      reason = useless.message;
    } on FileSystemException catch (failure) {
      reason = wordsOf(failure);
    } on ModelException catch (failure) {
      if (failure.code == ModelErrorCode.cancelled) rethrow;
      reason = failure.message;
    } finally {
      await remove(unfinished);
    }
    warn('the whole of ${blob.name} is fetched, because it cannot be made here: $reason');
    _total += blob.sizeBytes;
    return false;
  }

  /// A file of this channel, or a copy of one of the app's own.
  Future<File> _source(String sha256) async {
    final kept = _store.file(sha256);
    if (await kept.exists()) return kept;
    final copy = _borrowed(sha256);
    await _copy(_packaged[sha256]!, copy);
    return copy;
  }

  File _borrowed(String sha256) => File('${_store.file(sha256).path}.borrowed');

  /// Writes one of the app's own files, checked.
  Future<void> _copy(PackagedFile file, File target) async {
    final bytes = await readBundled(_model.package, file.name);
    if (bytes == null) throw ModelException(ModelErrorCode.missing, '${file.name} is not among the assets of the app');
    await target.writeAsBytes(bytes, flush: true);
    if (await digestOfFile(target) != file.sha256) {
      throw ModelException(ModelErrorCode.corrupted, '${file.name} is not the file that the package was built with');
    }
  }

  Future<void> _fetch(Blob blob) async {
    final target = _store.file(blob.sha256);
    final download = Download(
      _address.resolve('targets/${_model.name}/${blob.sha256}.${blob.sha256}'),
      target,
      sha256: blob.sha256,
      sizeBytes: blob.sizeBytes,
      requests: _requests,
      onBytes: (bytes) => _tell(UpdatePhase.downloading, _before + bytes, _total),
    );
    await download.run();
    await remove(File('${target.path}.lock'));
    _before += blob.sizeBytes;
  }
}

/// Like [applyDelta], in another isolate. A closure of a method would take its object along.
Future<String> _patched(String source, String delta, String result, int limit) =>
    Isolate.run(() => applyDelta(source, delta, result, limit));
