// Tensors from Dart to JavaScript and back.

import 'dart:js_interop';
import 'dart:js_interop_unsafe';
import 'dart:typed_data';

import '../runtime/errors.dart';
import '../runtime/tensor.dart';
import 'interop.dart';

/// 2^32: what a number of 64 bits has in its upper half.
const int _half = 4294967296;

extension type _Array._(JSObject _) implements JSObject {
  external JSArrayBuffer get buffer;

  external int get byteOffset;

  external int get byteLength;
}

/// `input` as JavaScript takes it: values, and their sizes where they are given.
///
/// Throws ModelException `badInput` for a list that cannot hold what the input takes.
JSObject fed(TensorSpec spec, TensorInput<Object> input) {
  final data = _toJS(spec, input.data);
  final shape = input.shape;
  if (shape == null && spec.shape.where((size) => size == null).length <= 1) return data;
  if (shape == null) {
    throw ModelException(
      ModelErrorCode.badInput,
      'input `${spec.name}`: pass its shape, which its number of values does not say',
    );
  }
  return JSObject()
    ..setProperty('data'.toJS, data)
    ..setProperty('shape'.toJS, [for (final size in shape) size.toJS].toJS);
}

/// `given` as Dart has it.
Tensor<Object> taken(TensorSpec spec, PageTensor given) {
  final shape = [for (final size in given.shape.toDart) size.toDartInt];
  return Tensor(_toDart(spec.type, given.data), List.unmodifiable(shape));
}

JSObject _toJS(TensorSpec spec, Object data) => switch (data) {
  List<String>() when spec.type == ElementType.string => [for (final each in data) each.toJS].toJS,
  Float32List() when spec.type == ElementType.float32 => data.toJS,
  Float64List() when spec.type == ElementType.float64 => data.toJS,
  Int8List() when spec.type == ElementType.int8 => data.toJS,
  Int16List() when spec.type == ElementType.int16 => data.toJS,
  Int32List() when spec.type == ElementType.int32 => data.toJS,
  Uint8List() when spec.type == ElementType.uint8 || spec.type == ElementType.bool => data.toJS,
  Uint16List() when spec.type.sizeBytes == 2 && spec.type != ElementType.int16 => data.toJS,
  Uint32List() when spec.type == ElementType.uint32 => data.toJS,
  List<int>() when isWhole(spec.type) => _wholes(spec.type, data),
  _ => throw ModelException(
    ModelErrorCode.badInput,
    'input `${spec.name}` takes ${spec.type.name}, which this list does not hold',
  ),
};

/// An array of 64-bit integers, by their halves: JavaScript's numbers have 53 bits.
JSObject _wholes(ElementType type, List<int> values) {
  final halves = Int32List(2 * values.length);
  for (final (index, value) in values.indexed) {
    final low = value & (_half - 1);
    halves[2 * index] = low;
    halves[2 * index + 1] = (value - low) ~/ _half;
  }
  final name = type == ElementType.int64 ? 'BigInt64Array' : 'BigUint64Array';
  final make = globalContext.getProperty<JSFunction>(name.toJS);
  return make.callAsConstructor<JSObject>(_Array._(halves.toJS).buffer);
}

Object _toDart(ElementType type, JSObject data) => switch (type) {
  ElementType.float32 => (data as JSFloat32Array).toDart,
  ElementType.float64 => (data as JSFloat64Array).toDart,
  ElementType.int8 => (data as JSInt8Array).toDart,
  ElementType.int16 => (data as JSInt16Array).toDart,
  ElementType.int32 => (data as JSInt32Array).toDart,
  ElementType.uint8 || ElementType.bool => (data as JSUint8Array).toDart,
  ElementType.uint16 || ElementType.float16 || ElementType.bfloat16 => (data as JSUint16Array).toDart,
  ElementType.uint32 => (data as JSUint32Array).toDart,
  ElementType.int64 || ElementType.uint64 => _joined(_Array._(data)),
  ElementType.string => [for (final each in (data as JSArray<JSString>).toDart) each.toDart],
};

List<int> _joined(_Array data) {
  final halves = JSInt32Array(data.buffer, data.byteOffset, data.byteLength ~/ 4).toDart;
  return [
    for (var index = 0; index < halves.length; index += 2) halves[index + 1] * _half + (halves[index] & (_half - 1)),
  ];
}
