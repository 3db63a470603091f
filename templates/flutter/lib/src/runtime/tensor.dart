// What goes into a model and what comes out.

import 'dart:typed_data';

/// Type of a tensor's values, by the number that ONNX has for it.
enum ElementType {
  /// In a [Float32List].
  float32(1, 4),

  /// In a [Uint8List].
  uint8(2, 1),

  /// In an [Int8List].
  int8(3, 1),

  /// In a [Uint16List].
  uint16(4, 2),

  /// In an [Int16List].
  int16(5, 2),

  /// In an [Int32List].
  int32(6, 4),

  /// In a list of [int]. Compiled to JavaScript, whole numbers are exact up to 2^53.
  int64(7, 8),

  /// In a list of [String].
  string(8, 0),

  /// In a [Uint8List], as 0 and 1.
  bool(9, 1),

  /// In a [Uint16List], as bits.
  float16(10, 2),

  /// In a [Float64List].
  float64(11, 8),

  /// In a [Uint32List].
  uint32(12, 4),

  /// In a list of [int], as [int64].
  uint64(13, 8),

  /// In a [Uint16List], as bits.
  bfloat16(16, 2);

  const ElementType(this.number, this.sizeBytes);

  /// ONNX's number for it.
  final int number;

  /// The size of an element; 0 for strings.
  final int sizeBytes;

  /// The type with a number. Null for one that this package does not know.
  static ElementType? numbered(int number) {
    for (final each in values) {
      if (each.number == number) return each;
    }
    return null;
  }

  /// A list of zeros for `count` elements. Not for strings.
  TypedData zeros(int count) => switch (this) {
    float32 => Float32List(count),
    float64 => Float64List(count),
    int8 => Int8List(count),
    int16 => Int16List(count),
    int32 => Int32List(count),
    int64 => Int64List(count),
    uint8 || bool => Uint8List(count),
    uint16 || float16 || bfloat16 => Uint16List(count),
    uint32 => Uint32List(count),
    uint64 => Uint64List(count),
    string => throw ArgumentError('strings have no typed list'),
  };

  /// The elements in a buffer. Not for strings.
  TypedData viewed(ByteBuffer buffer) => switch (this) {
    float32 => buffer.asFloat32List(),
    float64 => buffer.asFloat64List(),
    int8 => buffer.asInt8List(),
    int16 => buffer.asInt16List(),
    int32 => buffer.asInt32List(),
    int64 => buffer.asInt64List(),
    uint8 || bool => buffer.asUint8List(),
    uint16 || float16 || bfloat16 => buffer.asUint16List(),
    uint32 => buffer.asUint32List(),
    uint64 => buffer.asUint64List(),
    string => throw ArgumentError('strings have no typed list'),
  };
}

/// A tensor of a model: null for a size that is open.
final class TensorSpec {
  /// Made by this package.
  const TensorSpec(this.name, this.type, this.shape);

  /// Its name in the model.
  final String name;

  /// Type of its values.
  final ElementType type;

  /// Its sizes.
  final List<int?> shape;

  @override
  String toString() => '$name: ${type.name} [${shape.map((size) => size ?? '?').join(', ')}]';
}

/// Values for an input: one after the other, in row-major order.
final class TensorInput<Data extends Object> {
  /// Where at most one size is open, values alone will do, for their number says the rest.
  const TensorInput(this.data, {this.shape});

  /// The values.
  final Data data;

  /// Their sizes; null where the number of values says them.
  final List<int>? shape;

  @override
  String toString() => _inWords(data, shape);
}

/// A tensor that a model gave: it may be passed to a model, too.
final class Tensor<Data extends Object> implements TensorInput<Data> {
  /// Made by this package.
  const Tensor(this.data, this.shape);

  @override
  final Data data;

  @override
  final List<int> shape;

  @override
  String toString() => _inWords(data, shape);
}

/// A tensor that lies where the model has left it, until it is given back.
final class HeldTensor implements Tensor<Object> {
  /// `value` is the address of ONNX Runtime's own, `release` gives it back.
  const HeldTensor(this.data, this.shape, this.value, this.release);

  @override
  final Object data;

  @override
  final List<int> shape;

  /// Address of ONNX Runtime's value.
  final int value;

  /// Gives the memory back, of which [data] is a view.
  final void Function() release;

  @override
  String toString() => _inWords(data, shape);
}

/// How many values of a tensor are printed.
const int _shown = 8;

String _inWords(Object data, List<int>? shape) {
  final values = data is List<Object?> ? data : const <Object?>[];
  final more = values.length > _shown ? ', and ${values.length - _shown} more' : '';
  return '${shape ?? [values.length]}: ${values.take(_shown).join(', ')}$more';
}

/// Whether elements are whole numbers of 64 bits.
bool isWhole(ElementType type) => type == ElementType.int64 || type == ElementType.uint64;

/// The number of elements of a shape.
int countOf(List<int> shape) => shape.fold(1, (count, size) => count * size);
