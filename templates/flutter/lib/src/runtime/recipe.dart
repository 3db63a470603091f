// Random inputs of samples, made anew from four numbers: the same on every machine, so that no package carries them.

import 'dart:typed_data';

import 'tensor.dart';

/// The values of a tensor that the recipe in `bytes`, four signed numbers of 64 bits, makes.
TypedData madeOf(ElementType type, int count, ByteData bytes) {
  final seed = bytes.getInt64(0, Endian.little);
  final low = bytes.getInt64(8, Endian.little);
  final high = bytes.getInt64(16, Endian.little);
  final row = bytes.getInt64(24, Endian.little);
  final values = type.zeros(count);
  int integer(int index, int bits) =>
      row > 0 && index % row == 0 ? high - 1 : low + (((bits >>> 32) * (high - low)) >> 32);
  switch (values) {
    case Float32List():
      for (var index = 0; index < count; index++) {
        values[index] = (randomBits(seed, index) >>> 40) / 8388608 - 1;
      }
    case Float64List():
      for (var index = 0; index < count; index++) {
        values[index] = (randomBits(seed, index) >>> 11) / 4503599627370496 - 1;
      }
    case Uint16List() when type == ElementType.float16:
      for (var index = 0; index < count; index++) {
        values[index] = _halfBits((randomBits(seed, index) >>> 53) / 1024 - 1);
      }
    case Uint16List() when type == ElementType.bfloat16:
      for (var index = 0; index < count; index++) {
        values[index] = _bitsOf((randomBits(seed, index) >>> 56) / 128 - 1) >> 16;
      }
    case final List<int> integers:
      for (var index = 0; index < count; index++) {
        final value = integer(index, randomBits(seed, index));
        integers[index] = type == ElementType.bool ? (value == 0 ? 0 : 1) : value;
      }
  }
  return values;
}

/// SplitMix64: the number `index` of those that follow `seed`.
int randomBits(int seed, int index) {
  var bits = seed + (index + 1) * -0x61c8864680b583eb;
  bits = (bits ^ (bits >>> 30)) * -0x40a7b892e31b1a47;
  bits = (bits ^ (bits >>> 27)) * -0x6b2fb644ecceee15;
  return bits ^ (bits >>> 31);
}

int _bitsOf(double value) => (ByteData(4)..setFloat32(0, value)).getUint32(0);

/// The bits of a 16-bit float from -1 to 1 that has them all: those of a float with smaller exponent and fraction.
int _halfBits(double value) {
  if (value == 0) return 0;
  final bits = _bitsOf(value);
  return ((bits >> 16) & 0x8000) | (((bits & 0x7fffffff) - (112 << 23)) >> 13);
}
