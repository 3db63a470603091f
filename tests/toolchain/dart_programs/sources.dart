// Loads a model of the package `models` from a server, as lines on standard input say, and answers each with a line of
// JSON: `load ADDRESS`, or `load ADDRESS BYTES`, which cancels the load when so many bytes are there.

import 'dart:convert';
import 'dart:io';

import 'package:models/models.dart';

late final String folder;
late final String library;

void show(Object value) => stdout.writeln(jsonEncode(value));

Future<void> load(String address, int? cancelAt) async {
  final cancellation = Cancellation();
  final progress = <List<int>>[];
  SourceKind? source;
  final options = LoadOptions(
    source: ModelSource.url(address),
    folder: folder,
    library: library,
    cancellation: cancellation,
    observer: ModelObserver(onLoad: (event) => source = event.source),
    onProgress: (loaded, total) {
      progress.add([loaded, total]);
      if (cancelAt != null && loaded >= cancelAt) cancellation.cancel();
    },
  );
  try {
    final model = await Scorer.load(options);
    await model.dispose();
    show({'error': '', 'source': source?.name, 'progress': progress});
  } on ModelException catch (error) {
    show({'error': error.code.name, 'message': error.message, 'progress': progress});
  }
}

Future<void> main(List<String> arguments) async {
  folder = arguments[1];
  library = arguments[2];
  show({'ready': true});
  await for (final line in stdin.transform(utf8.decoder).transform(const LineSplitter())) {
    final words = line.split(' ');
    await load(words[1], words.length > 2 ? int.parse(words[2]) : null);
  }
}
