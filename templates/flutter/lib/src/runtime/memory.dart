// Memory of the C library, which isolates share: Dart's own moves.

import 'dart:convert';
import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'errors.dart';

final DynamicLibrary _library = Platform.isWindows ? DynamicLibrary.open('ucrtbase.dll') : DynamicLibrary.process();

final Pointer<Void> Function(int count, int size) _calloc = _library
    .lookupFunction<Pointer<Void> Function(Size, Size), Pointer<Void> Function(int, int)>('calloc');

final void Function(Pointer<Void> memory) _free = _library
    .lookupFunction<Void Function(Pointer<Void>), void Function(Pointer<Void>)>('free');

/// Zeroed memory of `size` bytes, at least one.
///
/// Throws ModelException `outOfMemory`.
Pointer<Uint8> allocate(int size) {
  final memory = _calloc(size == 0 ? 1 : size, 1);
  if (memory == nullptr) throw ModelException(ModelErrorCode.outOfMemory, 'there is no memory for $size bytes');
  return memory.cast();
}

/// Gives back memory of [allocate].
void release(Pointer<NativeType> memory) => _free(memory.cast());

/// Memory that is given back all at once.
final class Arena {
  final List<Pointer<Uint8>> _parts = [];

  /// Zeroed memory of `size` bytes.
  Pointer<Uint8> bytes(int size) {
    final memory = allocate(size);
    _parts.add(memory);
    return memory;
  }

  /// A text in UTF-8 that ends with a zero.
  Pointer<Void> text(String value) {
    final encoded = utf8.encode(value);
    final memory = bytes(encoded.length + 1);
    memory.asTypedList(encoded.length).setAll(0, encoded);
    return memory.cast();
  }

  /// A text in UTF-16 that ends with a zero.
  Pointer<Void> wideText(String value) {
    final units = value.codeUnits;
    final memory = bytes((units.length + 1) * 2);
    memory.cast<Uint16>().asTypedList(units.length).setAll(0, units);
    return memory.cast();
  }

  /// Pointers to paths, in the characters that the system has for them.
  Pointer<Pointer<Void>> paths(List<String> values) =>
      pointers([for (final value in values) Platform.isWindows ? wideText(value) : text(value)]);

  /// Pointers to texts.
  Pointer<Pointer<Void>> texts(List<String> values) => pointers([for (final value in values) text(value)]);

  /// An array of pointers.
  Pointer<Pointer<Void>> pointers(List<Pointer<Void>> values) {
    final memory = bytes(values.length * sizeOf<Pointer<Void>>()).cast<Pointer<Void>>();
    for (var index = 0; index < values.length; index++) {
      memory[index] = values[index];
    }
    return memory;
  }

  /// An array of `int64_t`.
  Pointer<Int64> longs(List<int> values) {
    final memory = bytes(values.length * 8).cast<Int64>();
    memory.asTypedList(values.length).setAll(0, values);
    return memory;
  }

  /// An array of `size_t`.
  Pointer<Size> sizes(List<int> values) {
    final memory = bytes(values.length * sizeOf<Size>()).cast<Size>();
    for (var index = 0; index < values.length; index++) {
      memory[index] = values[index];
    }
    return memory;
  }

  /// Gives everything back.
  void free() {
    _parts
      ..forEach(release)
      ..clear();
  }
}

/// Calls `use` with memory that is given back afterwards.
T withArena<T>(T Function(Arena arena) use) {
  final arena = Arena();
  try {
    return use(arena);
  } finally {
    arena.free();
  }
}

/// The text in UTF-8 that ends with a zero.
String textAt(Pointer<Void> memory) {
  final bytes = memory.cast<Uint8>();
  var length = 0;
  while (bytes[length] != 0) {
    length++;
  }
  return utf8.decode(bytes.asTypedList(length), allowMalformed: true);
}

/// The bytes of a typed list, in place.
Uint8List bytesOf(TypedData data) => data.buffer.asUint8List(data.offsetInBytes, data.lengthInBytes);
