// SHA-256 of memory of the C library.

import 'dart:ffi';

import 'digest.dart';

/// Hexadecimal SHA-256 of `size` bytes at an address.
String sha256At(Pointer<Uint8> address, int size) => hexOf(sha256Of(address.asTypedList(size)));
