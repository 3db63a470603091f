// Loads an encrypted model in right and in wrong ways, and prints a line of JSON for each.
//
// Arguments: ONNX Runtime's library, the key in hexadecimal, a file of vectors, the app's own file, encrypted, another one
// that was changed, and a file to decrypt for the time that it takes.

import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

import 'package:models/models.dart';
import 'package:models/src/runtime/decryption.dart';

late final String library;
late final Uint8List key;

Uint8List bytesOf(String digits) =>
    Uint8List.fromList([for (var at = 0; at < digits.length; at += 2) int.parse(digits.substring(at, at + 2), radix: 16)]);

void show(String name, Map<String, Object?> found) => print(jsonEncode({'case': name, ...found}));

Future<double> sum(Scorer model) async {
  final x = Float32List.fromList([for (var index = 0; index < 64; index++) index / 64]);
  final outputs = await model.run(ScorerInputs(x: TensorInput(x, shape: const [1, 64])));
  return outputs.y.data.fold<double>(0, (sum, each) => sum + each);
}

Future<void> tell(String name, ModelSource source, Future<Uint8List> Function(String id)? keys) async {
  try {
    final model = await Scorer.load(LoadOptions(source: source, library: library, keys: keys));
    show(name, {'found': 'opened', 'sum': await sum(model)});
    await model.dispose();
  } on ModelException catch (error) {
    show(name, {'found': error.code.name, 'words': error.message});
  }
}

Uint8List? opened(Uint8List sealed, Uint8List key) {
  const decryption = Decryption();
  final most = sealed.length < decryption.headerBytes ? sealed.length : decryption.headerBytes;
  final file = decryption.read(Uint8List.sublistView(sealed, 0, most), sealed.length, 'a file');
  if (file == null) return null;
  final plain = Uint8List(file.plainBytes);
  file.open(key, sealed, plain);
  return plain;
}

void vectors(String path) {
  final all = jsonDecode(File(path).readAsStringSync()) as Map<String, dynamic>;
  final known = bytesOf(all['key'] as String);
  final wrong = <int>[];
  final taken = <String>[];
  for (final (index, each) in (all['files'] as List).cast<Map<String, dynamic>>().indexed) {
    final plain = opened(base64.decode(each['sealed'] as String), known);
    if (plain == null || base64.encode(plain) != each['plain']) wrong.add(index);
  }
  final refused = (all['refused'] as List).cast<Map<String, dynamic>>();
  for (final each in refused) {
    try {
      final own = each['key'] as String?;
      final plain = opened(base64.decode(each['sealed'] as String), own == null ? known : bytesOf(own));
      if (plain != null) taken.add(each['why'] as String);
    } on ModelException {
      continue;
    }
  }
  show('vectors', {'files': (all['files'] as List).length, 'refused': refused.length, 'wrong': wrong, 'taken': taken});
}

Future<void> main(List<String> arguments) async {
  library = arguments[0];
  key = bytesOf(arguments[1]);
  vectors(arguments[2]);
  const source = ModelSource.bundled();
  final ids = <String>[];
  await tell('right', source, (id) async {
    ids.add(id);
    return key;
  });
  show('ids', {'found': ids});
  await tell('no keys', source, null);
  await tell('no such key', source, (id) async => throw StateError('nobody has signed in'));
  await tell('another key', source, (id) async => Uint8List(32)..fillRange(0, 32, 1));
  await tell('a key of zeros', source, (id) async => Uint8List(32));
  await tell('a short key', source, (id) async => Uint8List(16));
  await tell('own', ModelSource.path(arguments[3]), (id) async => key);
  await tell('changed', ModelSource.path(arguments[4]), (id) async => key);
  final large = File(arguments[5]).readAsBytesSync();
  var most = 0.0;
  for (var time = 0; time < 3; time++) {
    final clock = Stopwatch()..start();
    final plain = opened(large, key)!;
    most = max(most, plain.length / clock.elapsedMicroseconds);
  }
  show('speed', {'found': most});
}
