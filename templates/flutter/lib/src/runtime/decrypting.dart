// Files of a package whose models are encrypted.

import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'cancellation.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'files.dart';
import 'mapped_file.dart';
import 'memory.dart';
import 'options.dart';
import 'worker.dart';

/// `files`, of which those that are encrypted get the key of the app.
ModelFiles decrypting(ModelFiles files, ModelDescriptor descriptor, LoadOptions options) {
  final cipher = descriptor.cipher;
  return cipher == null ? files : _Decrypting(files, cipher, options);
}

final class _Decrypting extends ModelFiles {
  const _Decrypting(this._files, this._cipher, this._options);

  final ModelFiles _files;
  final ModelCipher _cipher;
  final LoadOptions _options;

  @override
  SourceKind get kind => _files.kind;

  @override
  Future<void> fetch(List<PackagedFile> files) => _files.fetch(files);

  @override
  Future<PlacedFile> place(PackagedFile file, String reference) async => _keyed(await _files.place(file, reference));

  @override
  Future<ByteData> read(PackagedFile file) => _files.read(file);

  @override
  Future<PlacedFile> own(PathSource source) async => _keyed(await _files.own(source));

  @override
  Future<bool> repair(List<PackagedFile> files) => _files.repair(files);

  @override
  void opened(Cancellation ending) => _files.opened(ending);

  @override
  Future<void> close() => _files.close();

  Future<PlacedFile> _keyed(PlacedFile file) async {
    try {
      final (start, size) = await _startOf(file);
      final sealed = _cipher.read(start, size, file.name);
      return sealed == null ? file : file.openedBy(_Opening(sealed, await _keyOf(sealed, file.name)));
    } on Object {
      file.forget();
      rethrow;
    }
  }

  Future<(Uint8List, int)> _startOf(PlacedFile file) async {
    final path = file.path;
    if (path == null) {
      final size = file.size < _cipher.headerBytes ? file.size : _cipher.headerBytes;
      return (Uint8List.fromList(Pointer<Uint8>.fromAddress(file.address).asTypedList(size)), file.size);
    }
    try {
      final open = await File(path).open();
      try {
        return (await open.read(_cipher.headerBytes), await open.length());
      } finally {
        await open.close();
      }
    } on PathNotFoundException {
      throw ModelException(ModelErrorCode.missing, '$path is not there');
    } on FileSystemException catch (error) {
      throw ModelException(ModelErrorCode.unreadable, '$path: ${error.osError?.message ?? error.message}');
    }
  }

  Future<Uint8List> _keyOf(SealedFile sealed, String name) async {
    final keys = _options.keys;
    final id = sealed.keyId;
    if (keys == null) {
      throw ModelException(
        ModelErrorCode.key,
        '$name is encrypted with the key $id: pass LoadOptions(keys: ...), which has it',
      );
    }
    try {
      return await keys(id);
    } on Object catch (failure) {
      throw ModelException(ModelErrorCode.key, 'the app has no key $id for $name: $failure');
    }
  }
}

/// Decrypts in the isolate of the model.
final class _Opening implements FileOpening {
  const _Opening(this._sealed, this._key);

  final SealedFile _sealed;
  final Uint8List _key;

  @override
  ModelBytes open(ModelBytes bytes) {
    final plain = allocate(_sealed.plainBytes);
    try {
      _sealed.open(_key, bytes.address.asTypedList(bytes.size), plain.asTypedList(_sealed.plainBytes));
    } on Object {
      release(plain);
      rethrow;
    }
    bytes.free();
    return ModelBytes.taken(plain.address, _sealed.plainBytes);
  }
}
