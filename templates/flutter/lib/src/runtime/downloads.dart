// Files of a model on a server, and what is kept of them on the device.

import 'dart:io';
import 'dart:typed_data';

import 'cancellation.dart';
import 'descriptor.dart';
import 'download.dart';
import 'errors.dart';
import 'files.dart';
import 'options.dart';
import 'requests.dart';
import 'storage.dart';
import 'worker.dart';

/// The files of a package in a folder of a server, in which each lies under its SHA-256.
final class Downloads extends ModelFiles {
  /// Downloads of one load.
  ///
  /// Throws ModelException `badOptions` for an address that is none of a folder, with https.
  Downloads(UrlSource source, this._package, this._options) : _address = folderAt(source.address);

  final Uri _address;
  final String _package;
  LoadOptions _options;
  late final Directory _folder = downloadsOf(_package, _options.folder);

  @override
  SourceKind get kind => SourceKind.url;

  @override
  Future<void> fetch(List<PackagedFile> files) async {
    final total = files.fold(0, (sum, each) => sum + each.sizeBytes);
    var before = 0;
    for (final each in files) {
      await _fetch(each, (bytes) => _options.onProgress?.call(before + bytes, total));
      before += each.sizeBytes;
    }
    _options.onProgress?.call(total, total);
  }

  Future<File> _fetch(PackagedFile file, void Function(int bytes) onBytes) async {
    final target = File('${_folder.path}/${file.sha256}');
    final requests = Requests(_options.cancellation);
    final download = Download(
      _address.resolve(file.sha256),
      target,
      sha256: file.sha256,
      sizeBytes: file.sizeBytes,
      requests: requests,
      onBytes: onBytes,
    );
    try {
      await download.run();
    } finally {
      requests.close();
    }
    return target;
  }

  @override
  Future<PlacedFile> place(PackagedFile file, String reference) async =>
      PlacedFile.at((await _fetch(file, (_) {})).path, reference, file.sha256);

  /// Files that are not the right ones any more come anew.
  @override
  Future<bool> repair(List<PackagedFile> files) async {
    var isRepaired = false;
    for (final each in files) {
      final target = File('${_folder.path}/${each.sha256}');
      if (await digestOfFile(target) == each.sha256) continue;
      await keeping(target.path, target.delete);
      isRepaired = true;
    }
    if (isRepaired) await fetch(files);
    return isRepaired;
  }

  @override
  void opened(Cancellation ending) => _options = _options.opened(ending);

  @override
  Future<ByteData> read(PackagedFile file) async {
    final placed = await _fetch(file, (_) {});
    try {
      return ByteData.sublistView(await placed.readAsBytes());
    } on FileSystemException catch (error) {
      throw ModelException(ModelErrorCode.unreadable, '${placed.path}: ${error.osError?.message ?? error.message}');
    }
  }
}

/// Where downloads of a package lie.
Directory downloadsOf(String package, String? folder) => Directory('${packageFolder(package, folder).path}/files');
