// Files in memory without a copy: the system reads their pages when they are looked at.

import 'dart:ffi';
import 'dart:io';

import 'errors.dart';
import 'mapping_posix.dart' as posix;
import 'mapping_windows.dart' as windows;
import 'memory.dart';

/// The bytes of a model file, which ONNX Runtime reads where they are.
final class ModelBytes {
  ModelBytes._(this.address, this.size, this._isMapped);

  /// Takes over memory of the C library.
  ModelBytes.taken(int address, int size) : this._(Pointer.fromAddress(address), size, false);

  /// Maps a file. Throws ModelException `missing` or `unreadable`.
  factory ModelBytes.map(String path) {
    final size = _sizeOf(path);
    if (size == 0) return ModelBytes._(allocate(1), 0, false);
    final place = Platform.isWindows ? windows.map(path) : posix.map(path, size);
    if (place == nullptr) throw ModelException(ModelErrorCode.unreadable, '$path cannot be mapped');
    return ModelBytes._(place, size, true);
  }

  /// Where the bytes are.
  final Pointer<Uint8> address;

  /// How many there are.
  final int size;

  final bool _isMapped;

  /// Gives them back.
  void free() {
    if (!_isMapped) return release(address);
    Platform.isWindows ? windows.unmap(address) : posix.unmap(address, size);
  }
}

int _sizeOf(String path) {
  try {
    return File(path).lengthSync();
  } on FileSystemException catch (error) {
    final code = File(path).existsSync() ? ModelErrorCode.unreadable : ModelErrorCode.missing;
    throw ModelException(code, '$path: ${error.osError?.message ?? error.message}');
  }
}
