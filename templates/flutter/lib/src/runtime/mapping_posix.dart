// mmap of Linux, Android, iOS and macOS.

import 'dart:ffi';
import 'dart:io';

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

/// The bytes of a file, read-only; a null pointer where they cannot be mapped.
Pointer<Uint8> map(String path, int size) {
  final closeOnExec = Platform.isIOS || Platform.isMacOS ? 0x1000000 : 0x80000;
  final descriptor = withArena((arena) => _open(arena.text(path), _readOnly | closeOnExec));
  if (descriptor < 0) return nullptr;
  final place = _mmap(nullptr, size, _protRead, _mapPrivate, descriptor, 0);
  _close(descriptor);
  return place.address == -1 ? nullptr : place.cast();
}

/// Gives back the bytes of [map].
void unmap(Pointer<Uint8> place, int size) => _munmap(place.cast(), size);
