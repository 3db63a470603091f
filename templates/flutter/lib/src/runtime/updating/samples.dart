// The samples in a file in the format safetensors: the same that packages have.

import 'dart:convert';
import 'dart:typed_data';

import '../descriptor.dart';
import 'fields.dart';

const int _lengthBytes = 8;
const String _metadata = '__metadata__';
final RegExp _key = RegExp(r'^(\d+)\.(input|output|recipe)\.');

/// Where the tensors of each sample lie. Names are `NUMBER.input.NAME`, `NUMBER.output.NAME`, and `NUMBER.recipe.NAME` for
/// an input that is made.
///
/// Throws FormatException for what is no such file.
List<GoldenSample> samplesIn(Uint8List bytes) {
  final length = bytes.length < _lengthBytes ? -1 : ByteData.sublistView(bytes).getUint64(0, Endian.little);
  final start = _lengthBytes + length;
  if (length < 0 || start > bytes.length) throw const FormatException('they have no header');
  final header = Fields(jsonDecode(utf8.decode(Uint8List.sublistView(bytes, _lengthBytes, start))));
  final shapes = _shapesIn(header.optional(_metadata));
  final samples = <int, (List<GoldenTensor>, List<GoldenTensor>)>{};
  for (final key in header.all.where((each) => each != _metadata)) {
    final found = _key.firstMatch(key);
    if (found == null) throw FormatException('$key is no tensor of a sample');
    final number = int.parse(found.group(1)!);
    final name = key.substring(found.end);
    final entry = header.member(key);
    final [first, last] = switch (entry.numbers('data_offsets')) {
      [final first, final last] when first <= last && start + last <= bytes.length => [first, last],
      _ => throw FormatException('$key is beyond the end of the file'),
    };
    final isMade = found.group(2) == 'recipe';
    final shape = shapes[isMade ? '$number.input.$name' : key] ?? entry.numbers('shape');
    final (inputs, outputs) = samples[number] ??= ([], []);
    (found.group(2) == 'output' ? outputs : inputs).add(GoldenTensor(name, start + first, last - first, shape));
  }
  final numbers = samples.keys.toList()..sort();
  return [for (final number in numbers) GoldenSample(samples[number]!.$1, samples[number]!.$2)];
}

/// Shapes of strings, which are written as bytes, and of what recipes make.
Map<String, List<int>> _shapesIn(Fields? about) {
  if (about == null) return const {};
  Fields object(String name) =>
      Fields(about.all.contains(name) ? jsonDecode(about.text(name)) : const <String, Object>{});
  final strings = object('strings');
  final generated = object('generated');
  return {
    for (final name in strings.all) name: strings.numbers(name),
    for (final name in generated.all) name: generated.member(name).numbers('shape'),
  };
}
