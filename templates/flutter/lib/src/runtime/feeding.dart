// From an app's tensors to native memory, and back.

import 'dart:ffi';
import 'dart:typed_data';

import 'errors.dart';
import 'memory.dart';
import 'onnxruntime.dart';
import 'tensor.dart';

/// A copy of an input, at place `index`, in memory that is given back with `memory`; what a model has left is fed as it is.
///
/// Throws ModelException `badInput` where it does not fit the model.
FedTensor fedTensor(int index, TensorSpec spec, TensorInput<Object> input, Arena memory) {
  if (input is HeldTensor) {
    final shape = _shapeOf(spec, countOf(input.shape), input.shape);
    return FedTensor(index, spec.type, shape, 0, 0, null, value: input.value);
  }
  final data = input.data;
  if (data is List<String>) {
    final shape = _shapeOf(spec, data.length, input.shape);
    return FedTensor(index, spec.type, shape, 0, 0, data);
  }
  final bytes = bytesOf(_packed(spec.type, data));
  final shape = _shapeOf(spec, bytes.length ~/ spec.type.sizeBytes, input.shape);
  final copy = memory.bytes(bytes.length);
  copy.asTypedList(bytes.length).setRange(0, bytes.length, bytes);
  return FedTensor(index, spec.type, shape, copy.address, bytes.length, null);
}

/// The sizes of an input, which were given or follow from the number of its values.
///
/// Throws ModelException `badInput` where they do not fit the model.
List<int> _shapeOf(TensorSpec spec, int count, List<int>? given) {
  final shape = given ?? _inferred(spec, count);
  var fits = shape.length == spec.shape.length && countOf(shape) == count && shape.every((size) => size >= 0);
  for (var axis = 0; fits && axis < shape.length; axis++) {
    fits = spec.shape[axis] == null || spec.shape[axis] == shape[axis];
  }
  if (fits) return shape;
  throw ModelException(
    ModelErrorCode.badInput,
    'input `${spec.name}` takes ${_inWords(spec.shape)}, found $count values${given == null ? '' : ' of shape $given'}',
  );
}

List<int> _inferred(TensorSpec spec, int count) {
  final open = spec.shape.where((size) => size == null).length;
  final known = spec.shape.nonNulls.fold(1, (product, size) => product * size);
  if (open > 1 || (open == 1 && known == 0)) {
    throw ModelException(
      ModelErrorCode.badInput,
      'input `${spec.name}` takes ${_inWords(spec.shape)}: pass its shape, which its number of values does not say',
    );
  }
  return [for (final size in spec.shape) size ?? count ~/ known];
}

String _inWords(List<int?> shape) => '[${shape.map((size) => size ?? '?').join(', ')}]';

/// Values as they lie in memory: of 64-bit integers any list will do.
TypedData _packed(ElementType type, Object data) => switch (data) {
  List<int>() when isWhole(type) && data is! Int64List && data is! Uint64List => Int64List.fromList(data),
  _ => data as TypedData,
};

/// An output that stays where it is.
HeldTensor heldTensor(OnnxRuntime runtime, GivenTensor given) {
  final shape = List<int>.unmodifiable(given.shape);
  final sizeBytes = countOf(shape) * given.type.sizeBytes;
  final value = _HeldValue(runtime, given, sizeBytes);
  final data = sizeBytes == 0
      ? given.type.zeros(0)
      : given.type.viewed(Pointer<Uint8>.fromAddress(given.data).asTypedList(sizeBytes).buffer);
  return HeldTensor(data, shape, given.value, value.release);
}

/// A value of ONNX Runtime, which ends with the isolate at the latest.
final class _HeldValue implements Finalizable {
  _HeldValue(this._runtime, this._given, int sizeBytes) : _finalizer = _runtime.api.releaseValueFinalizer {
    _finalizer.attach(this, Pointer.fromAddress(_given.value), detach: this, externalSize: sizeBytes);
  }

  final OnnxRuntime _runtime;
  final GivenTensor _given;
  final NativeFinalizer _finalizer;
  bool _isReleased = false;

  void release() {
    if (_isReleased) return;
    _isReleased = true;
    _finalizer.detach(this);
    _runtime.releaseValue(_given);
  }
}

/// An output in memory of Dart.
Tensor<Object> copiedTensor(GivenTensor given) {
  final texts = given.texts;
  if (texts != null) return Tensor(texts, List.unmodifiable(given.shape));
  final data = given.type.zeros(countOf(given.shape));
  final bytes = bytesOf(data);
  if (bytes.isNotEmpty) {
    bytes.setRange(0, bytes.length, Pointer<Uint8>.fromAddress(given.data).asTypedList(bytes.length));
  }
  return Tensor(data, List.unmodifiable(given.shape));
}
