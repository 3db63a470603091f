// Files of a package that opens no others than those in a list.

import 'dart:io';
import 'dart:isolate';
import 'dart:typed_data';

import 'cancellation.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'files.dart';
import 'options.dart';
import 'storage.dart';
import 'worker.dart';

/// `files`, of which a package with a guard opens no others than it allows.
///
/// Throws ModelException for a list that is not to be trusted.
Future<ModelFiles> guarded(ModelFiles files, ModelDescriptor descriptor) async {
  final guard = descriptor.guard;
  if (guard == null) return files;
  final text = await readBundled(descriptor.package, guard.list);
  return _Guarded(files, await _read(guard, text));
}

/// A list, verified in another isolate.
Future<GuardedFiles> _read(ModelGuard guard, Uint8List? text) => Isolate.run(() => guard.read(text));

final class _Guarded extends ModelFiles {
  const _Guarded(this._files, this._list);

  final ModelFiles _files;
  final GuardedFiles _list;

  @override
  SourceKind get kind => _files.kind;

  @override
  Future<void> fetch(List<PackagedFile> files) {
    files.forEach(_require);
    return _files.fetch(files);
  }

  @override
  Future<PlacedFile> place(PackagedFile file, String reference) {
    _require(file);
    return _files.place(file, reference);
  }

  @override
  Future<ByteData> read(PackagedFile file) {
    _require(file);
    return _files.read(file);
  }

  @override
  Future<bool> repair(List<PackagedFile> files) => _files.repair(files);

  @override
  void opened(Cancellation ending) => _files.opened(ending);

  @override
  Future<void> close() => _files.close();

  @override
  Future<PlacedFile> own(PathSource source) async {
    final sha256 = source.sha256?.toLowerCase() ?? await digestOfFile(File(source.path));
    if (sha256 == null) throw ModelException(ModelErrorCode.missing, '${source.path} is not there');
    _list.require(source.path, sha256, isOwn: true);
    return PlacedFile.at(source.path, source.path, sha256);
  }

  void _require(PackagedFile file) => _list.require(file.name, file.sha256, isOwn: false);
}
