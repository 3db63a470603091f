// Windows' views of files.

import 'dart:ffi';

import 'memory.dart';

final DynamicLibrary _library = DynamicLibrary.open('kernel32.dll');

final Pointer<Void> Function(
  Pointer<Void> path,
  int access,
  int sharing,
  Pointer<Void> security,
  int disposition,
  int attributes,
  Pointer<Void> template,
)
_open = _library
    .lookupFunction<
      Pointer<Void> Function(Pointer<Void>, Uint32, Uint32, Pointer<Void>, Uint32, Uint32, Pointer<Void>),
      Pointer<Void> Function(Pointer<Void>, int, int, Pointer<Void>, int, int, Pointer<Void>)
    >('CreateFileW');

final Pointer<Void> Function(
  Pointer<Void> file,
  Pointer<Void> security,
  int protection,
  int high,
  int low,
  Pointer<Void> name,
)
_mapping = _library
    .lookupFunction<
      Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Uint32, Uint32, Uint32, Pointer<Void>),
      Pointer<Void> Function(Pointer<Void>, Pointer<Void>, int, int, int, Pointer<Void>)
    >('CreateFileMappingW');

final Pointer<Void> Function(Pointer<Void> mapping, int access, int high, int low, int size) _view = _library
    .lookupFunction<
      Pointer<Void> Function(Pointer<Void>, Uint32, Uint32, Uint32, Size),
      Pointer<Void> Function(Pointer<Void>, int, int, int, int)
    >('MapViewOfFile');

final int Function(Pointer<Void> place) _unmap = _library
    .lookupFunction<Int32 Function(Pointer<Void>), int Function(Pointer<Void>)>('UnmapViewOfFile');

final int Function(Pointer<Void> handle) _close = _library
    .lookupFunction<Int32 Function(Pointer<Void>), int Function(Pointer<Void>)>('CloseHandle');

const int _genericRead = 0x80000000;
const int _shareRead = 1;
const int _openExisting = 3;
const int _readOnlyPages = 2;
const int _mapRead = 4;

/// The bytes of a file, read-only; a null pointer where they cannot be mapped.
Pointer<Uint8> map(String path) {
  final file = withArena(
    (arena) => _open(arena.wideText(path), _genericRead, _shareRead, nullptr, _openExisting, 0, nullptr),
  );
  if (file.address == -1) return nullptr;
  final mapping = _mapping(file, nullptr, _readOnlyPages, 0, 0, nullptr);
  _close(file);
  if (mapping == nullptr) return nullptr;
  final place = _view(mapping, _mapRead, 0, 0, 0);
  _close(mapping); // the view keeps it open
  return place.cast();
}

/// Gives back the bytes of [map].
void unmap(Pointer<Uint8> place) => _unmap(place.cast());
