// Files in memory without a copy: the system reads their pages when they are looked at.

import 'dart:ffi';
import 'dart:io';

import 'errors.dart';
import 'memory.dart';

final DynamicLibrary _library = DynamicLibrary.process();

final int Function(Pointer<Void> path, int flags) _open = _library
    .lookupFunction<Int Function(Pointer<Void>, Int), int Function(Pointer<Void>, int)>('open');

final int Function(int descriptor) _close = _library.lookupFunction<Int Function(Int), int Function(int)>('close');

final Pointer<Void> Function(Pointer<Void> place, int size, int access, int flags, int descriptor, int offset) _mmap =
    _library.lookupFunction<
      Pointer<Void> Function(Pointer<Void>, Size, Int, Int, Int, IntPtr),
      Pointer<Void> Function(Pointer<Void>, int, int, int, int, int)
    >('mmap');

final int Function(Pointer<Void> place, int size) _munmap = _library
    .lookupFunction<Int Function(Pointer<Void>, Size), int Function(Pointer<Void>, int)>('munmap');

const int _readOnly = 0;
const int _protRead = 1;
const int _mapPrivate = 2;
const int _closeOnExec = 0x80000;

/// The bytes of a model file, which ONNX Runtime reads where they are.
final class ModelBytes {
  ModelBytes._(this.address, this.size, this._isMapped);

  /// Takes over memory of the C library.
  ModelBytes.taken(int address, int size) : this._(Pointer.fromAddress(address), size, false);

  /// Maps a file. Throws ModelException `missing` or `unreadable`.
  factory ModelBytes.map(String path) {
    final size = _sizeOf(path);
    if (size == 0) return ModelBytes._(allocate(1), 0, false);
    final descriptor = withArena((arena) => _open(arena.text(path), _readOnly | _closeOnExec));
    if (descriptor < 0) throw ModelException(ModelErrorCode.unreadable, '$path cannot be opened');
    final place = _mmap(nullptr, size, _protRead, _mapPrivate, descriptor, 0);
    _close(descriptor);
    if (place.address == -1) throw ModelException(ModelErrorCode.unreadable, '$path cannot be mapped');
    return ModelBytes._(place.cast(), size, true);
  }

  /// Where the bytes are.
  final Pointer<Uint8> address;

  /// How many there are.
  final int size;

  final bool _isMapped;

  /// Gives them back.
  void free() => _isMapped ? _munmap(address.cast(), size) : release(address);
}

int _sizeOf(String path) {
  try {
    return File(path).lengthSync();
  } on FileSystemException catch (error) {
    final code = File(path).existsSync() ? ModelErrorCode.unreadable : ModelErrorCode.missing;
    throw ModelException(code, '$path: ${error.osError?.message ?? error.message}');
  }
}
