// Asks each model what the table of benchmarks/results/contract_table.md asks, and prints `ANSWER NAME words=...` and
// `ANSWER NAME numbers=...`.
//
// Arguments: ONNX Runtime's library, the folder with the cases, and the rate and length of a window of the voice.

import 'dart:io';
import 'dart:typed_data';

import 'package:models/models.dart';

late final LoadOptions options;
late final String folder;

void answer(String name, String words, Iterable<double> numbers) {
  print('ANSWER $name words=$words');
  print('ANSWER $name numbers=${numbers.join(' ')}');
}

Picture picture(List<String> line) {
  final [width, height, rowBytes, orientation, left, top, right, bottom, conversion] = line.skip(3).map(int.parse).toList();
  return Picture(
    File('$folder/${line[0]}').readAsBytesSync(),
    width: width,
    height: height,
    format: PixelFormat.values.byName(line[2].toLowerCase()),
    rowBytes: rowBytes,
    orientation: PictureOrientation.ofExif(orientation),
    region: Region(left, top, right, bottom),
    conversion: YuvConversion.values[conversion],
  );
}

/// Each 37th byte, which is of red, green, blue and alpha in turn.
void rendered(String name, RgbaPicture made) {
  final places = Iterable.generate((made.pixels.length + 36) ~/ 37, (number) => 37 * number);
  answer(name, '${made.width} x ${made.height} pixels', places.map((each) => made.pixels[each].toDouble()));
}

Future<void> pictures() async {
  final classifier = await Classifier.load(options);
  final finder = await Finder.load(options);
  final scribe = await ScribeModel.load(options);
  final poser = await Poser.load(options);
  final spotter = await Spotter.load(options);
  final cutter = await Cutter.load(options);
  final enlarger = await Enlarger.load(options);
  for (final text in File('$folder/cases').readAsLinesSync()) {
    final line = text.split(' ');
    final [name, model, ...] = line;
    if (model == 'classifier') {
      final found = await classifier.classify(picture(line), top: 1000);
      final words = found.take(3).map((each) => each.label).join('|');
      answer(name, words, (found..sort((one, other) => one.index - other.index)).map((each) => each.score));
    } else if (model == 'finder') {
      final found = await finder.detect(picture(line));
      answer(name, '${found.length}', [
        for (final Detection(:box, :score) in found) ...[box.left, box.top, box.right, box.bottom, score],
      ]);
    } else if (model == 'poser') {
      final found = await poser.locate(picture(line));
      answer(name, found.map((each) => each.label).join(', '), [
        for (final Keypoint(:x, :y, :score) in found) ...[x, y, score],
      ]);
    } else if (model == 'spotter') {
      final found = await spotter.segment(picture(line));
      answer(name, '${found.length} objects', [
        for (final Instance(:box, :score, :mask) in found) ...[
          ...[box.left, box.top, box.right, box.bottom, score],
          for (final each in [mask.left, mask.top, mask.width, mask.height]) each.toDouble(),
          mask.places.where((each) => each == 1).length / mask.width,
        ],
      ]);
    } else if (model == 'cutter') {
      rendered(name, await cutter.render(picture(line)));
    } else if (model == 'enlarger') {
      rendered(name, await enlarger.render(picture(line)));
    } else {
      final reading = await scribe.read(picture(line));
      answer(name, reading.text, [reading.score]);
    }
  }
  await classifier.dispose();
  await finder.dispose();
  await scribe.dispose();
  await poser.dispose();
  await spotter.dispose();
  await cutter.dispose();
  await enlarger.dispose();
}

Future<void> texts() async {
  final meaning = await Meaning.load(options);
  final tokens = await Tokens.load(options);
  for (final line in File('$folder/texts').readAsLinesSync()) {
    final [name, model, ...units] = line.split(' ');
    final text = String.fromCharCodes(units.map(int.parse));
    if (model == 'meaning') {
      answer(name, '', await meaning.embed(text));
    } else {
      answer(name, '', (await tokens.predict(text)).ids.data.map((each) => each.toDouble()));
    }
  }
  await meaning.dispose();
  await tokens.dispose();
}

typedef Listened = SoundStream<List<Classification>>;

Future<void> listen(ListenerModel model, Float32List voice) async {
  final lines = File('$folder/streams').readAsLinesSync().map((line) => line.split(' ').map(int.parse).toList());
  final found = await Future.wait(lines.map((line) => pushed(model, voice, line)));
  final all = [...found.expand((each) => each), ...await overflown(model, voice)];
  final words = [...all.map((each) => each.$1), ...misused(model, voice)];
  answer('streamed', words.join(' '), all.map((each) => each.$2));
}

/// A stream of a line of the file `streams`: rate, channels, and how many frames each push has.
Future<List<(String, double)>> pushed(ListenerModel model, Float32List voice, List<int> line) async {
  final [rate, channels, ...cuts] = line;
  final stream = model.stream();
  final reading = collected(stream);
  var start = 0;
  for (final cut in cuts) {
    final part = voice.sublist(start, start += cut * channels);
    stream.push(Sound(part, rate: rate, channels: channels));
    if (cut % 3 == 0) await null;
  }
  stream.flush();
  final found = await reading;
  // The stream is as good as new.
  stream
    ..reset()
    ..push(Sound(voice.sublist(0, start), rate: rate, channels: channels))
    ..flush();
  final again = await collected(stream);
  stream.close();
  if ('$again' != '$found') throw StateError('another sound after reset');
  return found;
}

Future<List<(String, double)>> collected(Listened stream) => stream.results
    .map((each) => ('${each.start}-${each.end}+${each.dropped}', each.result.first.score))
    .toList();

/// A queue of half a second that nobody reads.
Future<List<(String, double)>> overflown(ListenerModel model, Float32List voice) {
  final stream = model.stream(queueMs: 500, overflow: StreamOverflow.dropOldest);
  for (var start = 0; start < 24000; start += 1000) {
    stream.push(Sound(voice.sublist(start, start + 1000), rate: 16000));
  }
  stream.flush();
  return collected(stream);
}

/// What is wrong, by a word of the error's.
Iterable<String> misused(ListenerModel model, Float32List voice) {
  final samples = voice.sublist(0, 1000);
  final sound = Sound(samples, rate: 16000);
  final calls = <String, void Function(Listened)>{
    'began': (stream) => stream.push(Sound(samples, rate: 8000)),
    'channels': (stream) => stream.push(Sound(samples, rate: 16000, channels: 2)),
    'finite': (stream) => stream.push(Sound(Float32List.fromList([0, double.nan]), rate: 16000)),
    'full': (stream) => stream.push(Sound(voice.sublist(0, 20000), rate: 16000)),
    'flushed': (stream) => stream
      ..flush()
      ..push(sound),
    'closed': (stream) => stream
      ..close()
      ..push(sound),
    'least': (_) => model.stream(queueMs: 0),
    'takes': (_) => model.stream(queueMs: 20).push(sound),
  };
  return calls.entries.map((each) {
    final stream = model.stream(queueMs: 1000)..push(sound);
    try {
      each.value(stream);
    } on ModelException catch (error) {
      return error.message.contains(each.key) ? each.key : error.message;
    }
    return 'nothing';
  });
}

Future<void> hear(int rate, int window) async {
  final model = await ListenerModel.load(options);
  final voice = File('$folder/voice').readAsBytesSync().buffer.asFloat32List();
  final scores = <double>[];
  for (var start = 0; start < voice.length; start += window) {
    final part = Float32List.sublistView(voice, start, start + window);
    final [found, ...] = await model.classify(Sound(part, rate: rate));
    scores.add(found.score);
  }
  answer('voice', '', scores);
  await listen(model, voice);
  await model.dispose();
  final tone = await Tone.load(options);
  final found = await tone.estimate(Sound(voice, rate: rate));
  final names = found.series.keys.toList()..sort();
  final words = names.map((each) => '$each ${found.units[each]}').join(' ');
  answer('tone', words, names.expand((each) => found.series[each]!));
  await tone.dispose();
  final cleaner = await Cleaner.load(options);
  final noisy = File('$folder/noisy').readAsBytesSync().buffer.asFloat32List();
  final cleaned = [
    for (var start = 0; start < noisy.length; start += 512)
      await cleaner.render(Sound(Float32List.sublistView(noisy, start, start + 512), rate: rate)),
  ];
  final Sound(rate: madeRate, :channels) = cleaned.last;
  answer('cleaned', '$madeRate $channels', cleaned.expand((each) => each.samples));
  await cleaner.dispose();
}

Future<void> main(List<String> arguments) async {
  options = LoadOptions(library: arguments[0], threads: 1);
  folder = arguments[1];
  await pictures();
  await texts();
  await hear(int.parse(arguments[2]), int.parse(arguments[3]));
}
