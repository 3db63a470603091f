// Loads a model of the package `models` from a server, as lines on standard input say, and answers each with a line of
// JSON: `load ADDRESS`, or `load ADDRESS BYTES`, which cancels the load when so many bytes are there.

import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

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

Scorer? opened;
Future<String> running = Future.value('');
Cancellation cancellation = Cancellation();

/// A model that is open, and whose files are gone; then a run of it, which downloads them.
Future<void> answer(List<String> words) async {
  switch (words[0]) {
    case 'open':
      var told = 0;
      final options = LoadOptions(
        source: ModelSource.url(words[1]),
        folder: folder,
        library: library,
        cancellation: cancellation,
        onProgress: (loaded, total) => told++,
      );
      final model = opened = await Scorer.load(options);
      cancellation.cancel();
      final before = told;
      await model.selfTest();
      await run(model, null);
      show({'told': told - before});
    case 'run':
      releaseUnusedModels();
      Directory(folder).deleteSync(recursive: true);
      cancellation = Cancellation();
      running = run(opened!, cancellation);
    case 'cancel':
      cancellation.cancel();
      show({'run': await running});
    case 'dispose':
      await opened!.dispose();
      show({'run': await running});
    default:
      await load(words[1], words.length > 2 ? int.parse(words[2]) : null);
  }
}

Future<String> run(Scorer model, Cancellation? cancellation) async {
  try {
    final shape = [for (final size in Scorer.inputs.single.shape) size ?? 1];
    final x = Float32List(shape.fold(1, (count, size) => count * size));
    await model.run(
      ScorerInputs(x: TensorInput(x, shape: shape)),
      cancellation: cancellation,
    );
    return '';
  } on ModelException catch (error) {
    return error.code.name;
  }
}

Future<void> main(List<String> arguments) async {
  folder = arguments[1];
  library = arguments[2];
  show({'ready': true});
  await for (final line in stdin.transform(utf8.decoder).transform(const LineSplitter())) {
    await answer(line.split(' '));
  }
}
