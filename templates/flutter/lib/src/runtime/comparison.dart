// Inputs of samples, and the comparison of what a model makes of them with what it made on the build machine.

import 'dart:convert';
import 'dart:math';
import 'dart:typed_data';

import 'descriptor.dart';
import 'recipe.dart';
import 'self_test.dart';
import 'tensor.dart';

const Set<ElementType> _measured = {
  ElementType.float32,
  ElementType.float64,
  ElementType.float16,
  ElementType.bfloat16,
  ElementType.int8,
  ElementType.uint8,
};

/// An input of a sample: what the file has of it, or what its recipe makes.
TensorInput<Object> inputOf(GoldenSample sample, TensorSpec spec, ByteData bytes) {
  final tensor = sample.inputs.firstWhere((each) => each.name == spec.name);
  if (spec.type == ElementType.string) return TensorInput(_texts(bytes, tensor), shape: tensor.shape);
  final count = countOf(tensor.shape);
  if (tensor.sizeBytes >= count * spec.type.sizeBytes) {
    return TensorInput(_values(spec.type, bytes, tensor), shape: tensor.shape);
  }
  final recipe = ByteData.sublistView(bytes, tensor.offset, tensor.offset + tensor.sizeBytes);
  return TensorInput(madeOf(spec.type, count, recipe), shape: tensor.shape);
}

/// Runs samples, whose values are `bytes`, and compares the outputs. A provider that rounds may be off by `least`.
Future<List<OutputTest>> tested(
  ModelDescriptor descriptor,
  Golden golden,
  ByteData bytes, {
  required String file,
  required double least,
  required Future<List<Tensor<Object>>> Function(List<TensorInput<Object>> inputs) run,
}) async {
  final outputs = <OutputTest>[];
  for (final (number, sample) in golden.samples.indexed) {
    final found = await run([for (final spec in descriptor.inputs) inputOf(sample, spec, bytes)]);
    for (final tensor in sample.outputs) {
      final index = descriptor.outputs.indexWhere((spec) => spec.name == tensor.name);
      final type = descriptor.outputs[index].type;
      outputs.add(compared(number, tensor, bytes, type, found[index], golden.tested[file]!, least));
    }
  }
  return outputs;
}

/// An output, compared with that of a sample; `least` is what a provider may be off by that rounds.
OutputTest compared(
  int sample,
  GoldenTensor tensor,
  ByteData bytes,
  ElementType type,
  Tensor<Object> found,
  List<Tolerance> tolerances,
  double least,
) {
  final packaged = tolerances.firstWhere(
    (each) => each.output == tensor.name,
    orElse: () => Tolerance(tensor.name, rtol: 0, atol: 0, scale: 1, mismatches: 0),
  );
  final allowed = _atLeast(packaged, least);
  final isSame = '${found.shape}' == '${tensor.shape}';
  final (error, mismatches) = isSame ? _distance(type, bytes, tensor, found, allowed.mismatches) : (0.0, 0);
  final most = allowed.atol + allowed.rtol * allowed.scale;
  final failure = !isSame
      ? 'shape ${found.shape} instead of ${tensor.shape}'
      : mismatches > allowed.mismatches
      ? 'values that differ: $mismatches'
      : error > most
      ? 'error ${shortly(error)}, allowed ${shortly(most)}'
      : '';
  return OutputTest(
    name: tensor.name,
    sample: sample,
    maxAbsError: error,
    mismatchCount: mismatches,
    scale: allowed.scale,
    tolerance: allowed.rtol,
    absoluteTolerance: allowed.atol,
    failure: failure,
  );
}

/// Values that must be equal must be so on every provider.
Tolerance _atLeast(Tolerance found, double least) => found.rtol == 0 && found.atol == 0
    ? found
    : Tolerance(
        found.output,
        rtol: max(found.rtol, least),
        atol: max(found.atol, least / 100),
        scale: found.scale,
        mismatches: found.mismatches,
      );

TypedData _values(ElementType type, ByteData bytes, GoldenTensor tensor) {
  final values = type.zeros(countOf(tensor.shape));
  values.buffer.asUint8List().setAll(
    0,
    Uint8List.sublistView(bytes, tensor.offset, tensor.offset + values.lengthInBytes),
  );
  return values;
}

/// Strings one after the other, each behind its length in bytes.
List<String> _texts(ByteData bytes, GoldenTensor tensor) {
  final texts = <String>[];
  final end = tensor.offset + tensor.sizeBytes;
  for (var start = tensor.offset; start + 4 <= end;) {
    final length = bytes.getUint32(start, Endian.little);
    texts.add(utf8.decode(Uint8List.sublistView(bytes, start + 4, start + 4 + length)));
    start += 4 + length;
  }
  return texts;
}

/// The largest difference, and how many values differ that have none. `allowed` mismatches are those of numbers that are
/// not compared: the samples have infinity there. All of these count, so that no other number may be lost.
(double, int) _distance(ElementType type, ByteData bytes, GoldenTensor tensor, Tensor<Object> found, int allowed) {
  final expected = type == ElementType.string ? _texts(bytes, tensor) : _values(type, bytes, tensor) as List<Object>;
  final actual = found.data as List<Object>;
  if (!_measured.contains(type)) {
    var differing = 0;
    for (var index = 0; index < expected.length; index++) {
      if (expected[index] != actual[index]) differing++;
    }
    return (0, differing);
  }
  var largest = 0.0;
  var (mismatches, infinite, changed) = (0, 0, 0);
  for (var index = 0; index < expected.length; index++) {
    final wanted = _number(type, expected[index] as num);
    final value = _number(type, actual[index] as num);
    if (wanted.isFinite && value.isFinite) {
      largest = max(largest, (wanted - value).abs());
    } else if (wanted == double.infinity) {
      infinite++;
      if (value != wanted) changed++;
    } else if (wanted != value && !(wanted.isNaN && value.isNaN)) {
      mismatches++;
    }
  }
  return (largest, mismatches + (infinite <= allowed ? infinite : changed));
}

double _number(ElementType type, num stored) => switch (type) {
  ElementType.float16 => _half(stored.toInt()),
  ElementType.bfloat16 => (ByteData(4)..setUint16(0, stored.toInt())).getFloat32(0),
  _ => stored.toDouble(),
};

/// The number that 16 bits are as an IEEE 754 binary16.
double _half(int bits) {
  final exponent = (bits >> 10) & 31;
  final fraction = bits & 1023;
  final sign = bits & 0x8000 == 0 ? 1 : -1;
  if (exponent == 31) return fraction == 0 ? sign * double.infinity : double.nan;
  return sign * (exponent == 0 ? fraction * pow(2.0, -24) : (fraction + 1024) * pow(2.0, exponent - 25)).toDouble();
}
