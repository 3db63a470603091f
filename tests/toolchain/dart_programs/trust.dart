// Loads a model with lists of the package's files that are right or wrong, and prints a line of JSON for each.
//
// Arguments: ONNX Runtime's library, a folder with lists, the folder of the package's files, a file of the app's own that
// is in the lists, one that is not, a folder with files under their SHA-256, and the name of a file to damage.

import 'dart:convert';
import 'dart:io';

import 'package:models/models.dart';
import 'package:models/src/trust.dart';

late final String library;

/// `wrongSignature` -> `wrong-signature`
String dashed(String name) => name.replaceAllMapped(RegExp('[A-Z]'), (each) => '-${each.group(0)!.toLowerCase()}');

Future<void> tell(String name, ModelSource source) async {
  final told = <String>[];
  final observer = ModelObserver(onFailure: (event) => told.add('${event.error.runtimeType}'));
  Map<String, Object> found;
  try {
    final model = await Scorer.load(LoadOptions(source: source, library: library, observer: observer));
    found = {'found': 'opened by ${model.provider.name}'};
    await model.dispose();
  } on ModelUntrustedException catch (error) {
    found = {'found': dashed(error.problem.name), 'words': error.message};
  } on ModelException catch (error) {
    found = {'found': error.code.name, 'words': error.message};
  }
  print(jsonEncode({'case': name, ...found, 'told': told}));
}

/// The least time, in milliseconds, that the check of a list takes.
double duration(File list) {
  final text = list.readAsBytesSync();
  var least = double.infinity;
  for (var index = 0; index < 50; index++) {
    final clock = Stopwatch()..start();
    trust.read(text);
    if (clock.elapsedMicroseconds / 1000 < least) least = clock.elapsedMicroseconds / 1000;
  }
  return least;
}

Future<void> main(List<String> arguments) async {
  final [first, lists, models, own, stranger, byDigest, damaged] = arguments;
  library = first;
  final place = File('$models/models.sig');
  final files = Directory(lists).listSync().whereType<File>().toList()..sort((a, b) => a.path.compareTo(b.path));
  for (final list in files) {
    if (place.existsSync()) place.deleteSync();
    if (list.path.endsWith('.sig')) list.copySync(place.path);
    await tell(list.uri.pathSegments.last.split('.').first, const ModelSource.bundled());
  }
  files.first.copySync(place.path);
  await tell('own', ModelSource.path(own));
  await tell('own stranger', ModelSource.path(stranger));
  await tell('folder', ModelSource.folder(byDigest));
  final file = File('$models/$damaged');
  final content = file.readAsBytesSync();
  content[content.length - 1] ^= 1;
  file.writeAsBytesSync(content);
  await tell('damaged', const ModelSource.bundled());
  print(jsonEncode({'case': 'milliseconds', 'found': duration(files.first)}));
}
