// Calls the models of the package `typed` by their contracts, and prints one line of JSON for each check: `NAME {...}`.
//
// Arguments: ONNX Runtime's library, a file with texts as UTF-16, for JSON has no way to write a lone surrogate, and an
// ONNX file of the app's own.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

import 'package:typed/typed.dart';

import 'serving.dart' show serve;

late final LoadOptions options;
late final Map<String, Object?> given;

void say(String name, Object? value) => print('$name ${jsonEncode(value)}');

List<String> texts(String name) => [
  for (final units in given[name]! as List<Object?>) String.fromCharCodes((units! as List<Object?>).cast<int>()),
];

Future<String> codeOf(Future<Object?> Function() call) async {
  try {
    await call();
    return 'none';
  } on ModelException catch (error) {
    return error.code.name;
  }
}

Object ranked(List<Ranked> found) => [
  for (final each in found) [each.index, each.score],
];

Object entities(List<Entity> found) => [
  for (final each in found) [each.label, each.text, each.start, each.end, each.score],
];

Future<void> tokens() async {
  final model = await Tokens.load(options);
  say('tokens', [for (final text in texts('awkward')) (await model.predict(text)).ids.data]);
  await model.dispose();
}

Future<void> spans() async {
  final tagged = given['tagged']! as String;
  final tagger = await Tagger.load(options);
  say('spans', entities(await tagger.entities(tagged)));
  say('no spans', entities(await tagger.entities('')));
  final noter = await Noter.load(options);
  final noted = await noter.predict('before', tagged);
  say('noted', [entities(noted.tags), noted.copied.data]);
  await tagger.dispose();
  await noter.dispose();
}

Future<void> pairs() async {
  final model = await Ranker.load(options);
  final documents = (given['documents']! as List<Object?>).cast<String>();
  say('score', await model.score('a', 'banana'));
  say('ranked', ranked(await model.rank('a', documents)));
  say('ranked none', ranked(await model.rank('a', const [])));
  say('cancelled', await codeOf(() => model.rank('a', documents, cancellation: Cancellation()..cancel())));
  await model.dispose();
}

Future<void> lists() async {
  final listed = texts('listed');
  final sought = given['sought']! as String;
  final embedder = await Embedder.load(options);
  final topics = await Topics.load(options);
  final rows = await RowsModel.load(options);
  var judged = 0;
  final counter = ModelObserver(onRun: (_) => judged++);
  final judge = await Judge.load(LoadOptions(library: options.library, observer: counter));
  say('embedder', {
    'together': await embedder.embedAll(listed),
    'alone': [for (final text in listed) await embedder.embed(text)],
    'none': await embedder.embedAll(const []),
  });
  say('topics', [
    for (final found in await topics.classifyAll(listed)) '[${found.map((each) => each.label).join(', ')}]',
  ]);
  say('one topic', [for (final found in await topics.classifyAll(listed, top: 1)) found.length]);
  say('rows', [
    for (final found in await rows.predictAll(listed)) [found.ids.data, found.ids.shape],
  ]);
  say('judge', [
    await judge.scoreAll([sought], listed),
    [for (final text in listed) await judge.score(sought, text)],
  ]);
  judged = 0;
  say('judged', ranked(await judge.rank(sought, [...listed, ...listed, ...listed])));
  say('judged in', judged);
  final ending = Cancellation();
  final ended = codeOf(() => judge.rank(sought, [...listed, ...listed, ...listed], cancellation: ending));
  ending.cancel();
  say('not judged', await ended);
  say('no pairs', await codeOf(() => judge.scoreAll(['a', 'b'], ['a', 'b', 'c'])));
  for (final each in [embedder.dispose, topics.dispose, rows.dispose, judge.dispose]) {
    await each();
  }
}

void similarity() {
  final vectors = [
    for (final each in given['vectors']! as List<Object?>) Float32List.fromList((each! as List<Object?>).cast<double>()),
  ];
  say('cosines', [for (final each in vectors) Similarity.cosine(vectors[2], each)]);
  say('nearest', [for (final each in Similarity.nearest(vectors[2], vectors, vectors.length)) each.index]);
  say('nearest two', Similarity.nearest(vectors[2], vectors, 2).length);
}

Future<void> generation() async {
  final teller = await Teller.load(options);
  final sampler = await Sampler.load(options);
  final scribe = await ScribeModel.load(options);
  Future<String> told(String prompt) => teller.generate(prompt).join();
  final prompts = [given['prompt']! as String, '', 'a dog'];
  say('told', [for (final each in prompts) await told(each)]);
  say('told at once', await Future.wait(prompts.map(told)));
  say('parts', await teller.generate(prompts.first).length);
  final seeds = (given['seeds']! as List<Object?>).cast<int>();
  say('seeds', [for (final seed in seeds) await sampler.generate('a dog', seed: seed).join()]);
  final said = [
    const Message(Role.system, 'be kind'),
    const Message(Role.user, '\u3000 fox\x1c'),
    const Message(Role.assistant, r'$quick'),
    const Message(Role.user, '\u{1f600} dog '),
  ];
  say('chat', await sampler.chat(said, seed: 7).join());
  say('no chat', [
    for (final each in [
      [const Message(Role.assistant, 'dog')],
      [const Message(Role.user, 'a </end> b')],
      <Message>[],
    ])
      _refusal(() => sampler.chat(each)),
  ]);
  final samples = Float32List.fromList([for (var n = 0; n < 160; n++) ((n * 7919) % 60000 - 30000) / 32768]);
  say('heard', await scribe.generate(Sound(samples, rate: 16000)).join());
  await _leaving(teller, prompts.first);
  say('bad sound', await codeOf(() => scribe.generate(Sound(samples, rate: 0)).join()));
  for (final each in [teller.dispose, sampler.dispose, scribe.dispose]) {
    await each();
  }
  say('disposed', await codeOf(() => teller.generate('a').join()));
}

String _refusal(void Function() call) {
  try {
    call();
    return 'none';
  } on ModelException catch (error) {
    return error.message;
  }
}

/// Who leaves a text, or pauses, has no more runs made.
Future<void> _leaving(Teller teller, String prompt) async {
  var runs = 0;
  final counted = await Teller.load(
    LoadOptions(library: options.library, observer: ModelObserver(onRun: (event) => runs++)),
  );
  final parts = <String>[];
  await for (final part in counted.generate(prompt)) {
    final before = runs;
    await Future<void>.delayed(const Duration(milliseconds: 30));
    if (runs != before) parts.add('ran while nobody asked');
    parts.add(part);
    if (parts.length == 3) break;
  }
  final after = runs;
  await Future<void>.delayed(const Duration(milliseconds: 30));
  say('left', [parts.length, runs - after, await counted.generate(prompt).join() == await teller.generate(prompt).join()]);
  final cancellation = Cancellation();
  final stopped = codeOf(() => counted.generate(prompt, cancellation: cancellation).forEach((_) => cancellation.cancel()));
  say('ended', await stopped);
  say('ended before', await codeOf(() => counted.generate(prompt, cancellation: cancellation).join()));
  final running = codeOf(() => counted.generate(prompt).join());
  await counted.dispose();
  say('disposed while it runs', await running);
}

/// Two rows of three pixels.
final Uint8List rgba = Uint8List.fromList([
  for (var pixel = 0; pixel < 6; pixel++) ...[10 + 30 * pixel, 20 + 30 * pixel, 30 + 30 * pixel, 255],
]);

/// Four columns of two rows of luma, then two pixels of chroma.
final Uint8List nv12 = Uint8List.fromList([1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40]);

Picture camera({PixelFormat format = PixelFormat.nv12, YuvConversion conversion = YuvConversion.bt601Full, Region? region}) =>
    Picture(nv12, width: 4, height: 2, format: format, conversion: conversion, region: region);

Future<void> pictures() async {
  final model = await Watcher.load(options);
  Future<Map<String, double>> seen(Picture picture) async => {
    for (final each in await model.classify(picture, top: 100)) each.label: each.score,
  };
  Future<List<double?>> chroma(Picture picture) async {
    final found = await seen(picture);
    return [for (final name in ['red', 'u', 'v', 'conversion', 'chromaHeight', 'chromaWidth']) found[name]];
  }

  final regions = [const Region(0, 0, 3, 2), const Region(1, 0, 3, 2), const Region(1, 1, 2, 2), const Region(0, 1, 3, 2)];
  say('regions', [
    for (final region in regions)
      for (final gap in [0, 8])
        [
          for (final name in ['it\'s "first" \\', '最後', 'height', 'width'])
            (await seen(
              Picture(_gaps(rgba, 12, gap), width: 3, height: 2, rowBytes: gap == 0 ? null : 12 + gap, region: region),
            ))[name],
        ],
  ]);
  final odd = PicturePlane(_gaps(Uint8List.sublistView(nv12, 0, 8), 4, 2), bytesPerRow: 6);
  final three = Picture.yuv420(
    y: odd,
    u: PicturePlane(Uint8List.sublistView(nv12, 8), bytesPerRow: 4, bytesPerPixel: 2),
    v: PicturePlane(Uint8List.sublistView(nv12, 9), bytesPerRow: 4, bytesPerPixel: 2),
    width: 4,
    height: 2,
  );
  final two = Picture.yuv420(
    y: odd,
    u: PicturePlane(Uint8List.fromList([10, 20, 30, 40, 9]), bytesPerRow: 5, bytesPerPixel: 2),
    width: 4,
    height: 2,
  );
  final plane = Picture.plane(PicturePlane(nv12, bytesPerRow: 4), width: 4, height: 2, format: PixelFormat.nv21);
  final p010 = Uint8List.fromList([for (final byte in nv12) ...[0xc0, byte]]);
  final ten = Picture(p010, width: 4, height: 2, format: PixelFormat.p010, conversion: YuvConversion.bt709Video);
  say('chroma', [
    for (final picture in [
      camera(),
      camera(format: PixelFormat.nv21, conversion: YuvConversion.bt709Video),
      camera(region: const Region(2, 0, 4, 2)),
      three,
      two,
      plane,
      ten,
      Picture(rgba, width: 3, height: 2),
    ])
      await chroma(picture),
  ]);
  say('bgra', await seen(Picture.plane(PicturePlane(rgba, bytesPerRow: 12), width: 3, height: 2, format: PixelFormat.bgra)));
  say('orientations', [
    for (var number = 1; number <= 8; number++)
      (await seen(Picture(rgba, width: 3, height: 2, orientation: PictureOrientation.ofExif(number))))['orientation'],
    for (final degrees in [0, 90, 180, 270, -90, 450]) PictureOrientation.ofRotation(degrees).name,
    PictureOrientation.ofExif(9).name,
  ]);
  say('refused', [
    for (final picture in [
      Picture(Uint8List.sublistView(rgba, 1), width: 3, height: 2),
      Picture(rgba, width: 3, height: 2, format: PixelFormat.rgb),
      Picture(rgba, width: 3, height: 2, rowBytes: 11),
      Picture(rgba, width: 3, height: 2, rowBytes: 13),
      Picture(rgba, width: 0, height: 2),
      Picture(rgba, width: 3, height: 2, region: const Region(0, 0, 4, 2)),
      Picture(rgba, width: 3, height: 2, region: const Region(1, 1, 1, 2)),
      camera(region: const Region(1, 0, 4, 2)),
      Picture(Uint8List.sublistView(nv12, 0, 8), width: 4, height: 2, format: PixelFormat.nv12),
      Picture(Uint8List.sublistView(nv12, 0, 8), chroma: Uint8List(3), width: 4, height: 2, format: PixelFormat.nv12),
    ])
      await codeOf(() => model.classify(picture)),
    await codeOf(() => model.classify(camera(), top: 0)),
    await codeOf(() async => PictureOrientation.ofRotation(45)),
  ]);
  await model.dispose();
}

/// Two rows of `row` bytes with gaps behind them.
Uint8List _gaps(Uint8List bytes, int row, int gap) => Uint8List.fromList([
  ...bytes.take(row),
  for (var index = 0; index < gap; index++) 255,
  ...bytes.skip(row),
]);

Future<void> severalResults() async {
  final model = await Everything.load(options);
  final picture = Picture(
    Uint8List.fromList([1, 2, 3, 255]),
    width: 4,
    height: 1,
    format: PixelFormat.grey,
    orientation: PictureOrientation.left,
  );
  final found = await model.predict(picture, TensorInput([2, 0, 1]));
  say('everything', [
    [for (final each in found.seen) [each.label, each.index, each.score]],
    [found.where.width, found.where.height, found.where.classes, found.where.scores, found.where.labels],
    found.vector,
    found.words.text,
    found.raw.data,
    found.raw.shape,
    [found.made.width, found.made.height, found.made.pixels],
  ]);
  final finder = await Finder.load(options);
  final boxes = TensorInput(Float32List.fromList([1, 2, 3, 4, 5, 6, 7, 8]), shape: const [2, 4]);
  final scores = TensorInput(Float32List.fromList([0.5, 0.25]));
  say('boxes', [
    for (final each in await finder.detect(boxes, scores, TensorInput([1, 7])))
      [each.label, each.index, each.score, each.box.left, each.box.top, each.box.right, each.box.bottom],
  ]);
  final brain = await Brain.load(options);
  final numbers = TensorInput(Uint16List.fromList([0x3f80, 0x4000, 0x4040, 0xc080, 0x7fc0, 0xff80]));
  say('bfloat16', [(await brain.run(BrainInputs(x: numbers))).y.data, (await brain.run(BrainInputs(x: numbers))).y.shape]);
  for (final each in [model.dispose, finder.dispose, brain.dispose]) {
    await each();
  }
}

Future<void> sounds() async {
  final listener = await ListenerModel.load(options);
  Future<List<double>> heard(Sound sound) async {
    final found = await listener.classify(sound, top: 6);
    return [for (final each in found..sort((one, other) => one.index - other.index)) each.score];
  }

  final stereo = Sound(Float32List.fromList([0.5, 0.25, 1, -1]), rate: 8000, channels: 2);
  final first = [await heard(stereo), await heard(Sound.pcm(Int16List.fromList([16384, 8192]), rate: 44100))];
  listener.reset();
  say('heard sums', [...first, await heard(stereo)]);
  await listener.dispose();
}

Future<void> played() async {
  final player = await Player.load(options);
  const steps = [0.0, 0.5, -0.5, 1.5, -1.5, 32766.5, -32767.5, 1e6, -1e6, double.nan];
  final samples = Float32List.fromList([for (final step in steps) step / 32768]);
  final Sound(:rate, :channels, samples: made) = await player.render(Sound(samples, rate: 8000, channels: 2));
  say('played', [rate, channels, made.length, made.last]);
  say('wav', Sound(samples, rate: rate, channels: channels).toWav());
  say('wav of whole', Sound.pcm(Int16List.fromList([0, 1, 0, 2]), rate: rate, channels: channels).toWav().sublist(44));
  final nothing = await player.render(Sound(samples, rate: 9000, channels: 2));
  say('nothing played', [nothing.samples.length, nothing.toWav().length]);
  say('nothing heard', await codeOf(() => player.render(nothing)));
  await player.dispose();
}

int peakMebibytes() {
  final line = File('/proc/self/status').readAsLinesSync().firstWhere((line) => line.startsWith('VmHWM'));
  return int.parse(RegExp(r'\d+').firstMatch(line)!.group(0)!) >> 10;
}

/// The memory that runs of 64 MiB take at most, in MiB: with an output of a number, and of as much.
Future<void> large() async {
  final values = Float32List(16 << 20);
  for (var at = 0; at < values.length; at++) {
    values[at] = at.toDouble();
  }
  Future<(int, T)> used<T>(Future<T> Function() run) async {
    File('/proc/self/clear_refs').writeAsStringSync('5');
    final before = peakMebibytes();
    final out = await run();
    return (peakMebibytes() - before, out);
  }

  final input = TensorInput(values);
  final reducing = await Largest.load(options);
  final (once, largest) = await used(() => reducing.run(LargestInputs(x: input)));
  say('largest', [once, largest.y.data.single]);
  await reducing.dispose();
  final model = await Large.load(options);
  final (most, out) = await used(() => model.run(LargeInputs(x: input)));
  say('large', [most, out.y.data.length, out.y.data.last]);
  await model.dispose();
}

Future<void> main(List<String> arguments) async {
  options = LoadOptions(library: arguments[0]);
  given = jsonDecode(File(arguments[1]).readAsStringSync()) as Map<String, Object?>;
  await tokens();
  await spans();
  await pairs();
  await lists();
  similarity();
  await generation();
  await pictures();
  await severalResults();
  await sounds();
  await played();
  await large();
  await serve(options, arguments[2]);
  say('done', true);
}
