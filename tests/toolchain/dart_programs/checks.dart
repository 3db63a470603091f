// Runs the models of the package `models` and prints one line of JSON for each check: `NAME {...}`.
//
// Arguments: ONNX Runtime's library, a folder with inputs, which outputs are written to, and a file that is no model.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:isolate';
import 'dart:typed_data';

import 'package:models/models.dart';
import 'package:models/src/runtime/comparison.dart';
import 'package:models/src/runtime/descriptor.dart';

late final String library;
late final String folder;

LoadOptions options({
  ModelSource source = const ModelSource.bundled(),
  List<Provider>? providers,
  ModelObserver? observer,
  int queue = 64,
}) => LoadOptions(source: source, providers: providers, observer: observer, queue: queue, library: library);

void say(String name, Object? value) => print('$name ${jsonEncode(value)}');

Float32List floats(String name) => File('$folder/$name').readAsBytesSync().buffer.asFloat32List();

void save(String name, TypedData data) =>
    File('$folder/$name').writeAsBytesSync(data.buffer.asUint8List(data.offsetInBytes, data.lengthInBytes));

int status(String name) {
  final line = File('/proc/self/status').readAsLinesSync().firstWhere((line) => line.startsWith(name));
  return int.parse(RegExp(r'\d+').firstMatch(line)!.group(0)!);
}

int residentKib() => status('VmRSS');

Future<String> codeOf(Future<Object?> Function() call) async {
  try {
    await call();
    return 'none';
  } on ModelException catch (error) {
    return error.code.name;
  }
}

EveryTypeInputs everyInput() => EveryTypeInputs(
  f32: TensorInput(Float32List.fromList([1, 2, 3, 4, 5, 6])),
  f64: TensorInput(Float64List.fromList([1, 2, 3, 4, 5, 0.1])),
  f16: TensorInput(Uint16List.fromList([0x3c00, 2, 3, 4, 5, 6])),
  i8: TensorInput(Int8List.fromList([-128, 2, 3, 4, 5, 127])),
  i16: TensorInput(Int16List.fromList([-32768, 2, 3, 4, 5, 32767])),
  i32: TensorInput(Int32List.fromList([-2147483648, 2, 3, 4, 5, 2147483647])),
  i64: TensorInput(Int64List.fromList([9007199254740993, 2, 3, 4, 5, -6])),
  u8: TensorInput(Uint8List.fromList([255, 2, 3, 4, 5, 6])),
  flag: TensorInput(Uint8List.fromList([1, 0, 0, 1, 1, 0])),
  word: const TensorInput(['a', '', 'größe', '日本', '\u{1f600}', 'f']),
  scalar: TensorInput(Float32List.fromList([1.5])),
  rows: TensorInput(Float32List.fromList([1, 2, 3, 4, 5, 6]), shape: const [3, 2]),
);

Future<void> everyType() async {
  final model = await EveryType.load(options());
  final out = await model.run(everyInput());
  say('every_type', {
    'f32': out.f32T.data, 'f64': out.f64T.data, 'f16': out.f16T.data, 'i8': out.i8T.data,
    'i16': out.i16T.data, 'i32': out.i32T.data, 'i64': out.i64T.data, 'u8': out.u8T.data, 'flag': out.flagT.data,
    'word': out.wordT.data, 'u16': out.u16T.data, 'u32': out.u32T.data, 'u64': [for (final each in out.u64T.data) '$each'],
    'doubled': out.doubled.data, 'columns': out.columns.data, 'columns_shape': out.columns.shape, 'shape': out.f32T.shape,
  });
  await model.dispose();
}

Future<void> realModels() async {
  final minilm = await Minilm.load(options());
  final ids = Int64List.fromList([101, 2023, 2003, 1037, 3231, 102, 101, 7592, 102, 0, 0, 0]);
  final mask = Int64List.fromList([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  const shape = [2, 6];
  final out = await minilm.run(
    MinilmInputs(
      inputIds: TensorInput(ids, shape: shape),
      attentionMask: TensorInput(mask, shape: shape),
      tokenTypeIds: TensorInput(Int64List(12), shape: shape),
    ),
  );
  save('minilm.out', out.lastHiddenState.data);
  say('minilm', {'shape': out.lastHiddenState.shape, 'provider': minilm.provider.name, 'file': minilm.info.file});
  final orientation = await OrientationModel.load(options());
  final pixels = File('$folder/pixels').readAsBytesSync();
  final picture = Picture(pixels, width: 320, height: 240);
  final classes = await orientation.classify(picture, top: 4);
  final padded = Uint8List(240 * 1300);
  for (var row = 0; row < 240; row++) {
    padded.setRange(row * 1300, row * 1300 + 1280, pixels, row * 1280);
  }
  final gaps = await orientation.classify(Picture(padded, width: 320, height: 240, rowBytes: 1300), top: 4);
  final plane = PicturePlane(pixels, bytesPerRow: 320);
  final chroma = PicturePlane(pixels, bytesPerRow: 320, bytesPerPixel: 2);
  final yuv = await orientation.classify(Picture.yuv420(y: plane, u: chroma, v: chroma, width: 320, height: 240), top: 4);
  say('orientation', [
    for (final found in [classes, gaps, yuv]) {for (final each in found) each.label: each.score},
  ]);
  say('orientation_top', [for (final each in await orientation.classify(picture, top: 1)) each.index]);
  final silero = await SileroVad.load(options());
  final sound = floats('sound');
  final rate = TensorInput(Int64List.fromList([16000]));
  final scores = <double>[];
  for (var start = 0; start < sound.length; start += 576) {
    final part = Float32List.sublistView(sound, start, start + 576);
    scores.add((await silero.predict(Sound(part, rate: 16000), rate)).output.data.first);
  }
  silero.reset();
  scores.add((await silero.predict(Sound(Float32List.sublistView(sound, 0, 576), rate: 16000), rate)).output.data.first);
  say('silero', scores);
  final tokens = await Tokens.load(options());
  say('tokens', [
    for (final text in ['The quick brown fox', '', '\u{1f600} the']) (await tokens.predict(text)).ids.data,
  ]);
  final names = await Names.load(options());
  final tests = [await minilm.selfTest(), await orientation.selfTest(), await silero.selfTest(), await names.selfTest()];
  say('self_tests', {for (final each in tests) each.model: [each.passed, each.outputs.length]});
  for (final each in [minilm, orientation, silero, tokens, names]) {
    await switch (each) {
      Minilm() => each.dispose(),
      OrientationModel() => each.dispose(),
      SileroVad() => each.dispose(),
      Tokens() => each.dispose(),
      Names() => each.dispose(),
      _ => throw StateError('unknown'),
    };
  }
}

void infinities() {
  const infinite = double.infinity;
  final scores = Float32List.fromList([0.9, infinite, infinite, 0.8, infinite, infinite]);
  bool passes(List<double> found) => compared(
    0,
    const GoldenTensor('table', 0, 24, [2, 3]),
    ByteData.sublistView(scores),
    ElementType.float32,
    Tensor<Float32List>(Float32List.fromList(found), const [2, 3]),
    const [Tolerance('table', rtol: 1e-3, atol: 0, scale: 1, mismatches: 4)],
    0,
  ).passed;
  say('infinities', [passes([0.9, 1, 2, 0.8, 3, 4]), passes(List.filled(6, infinite))]);
}

Future<void> errors(String noModel) async {
  final model = await EveryType.load(options());
  final input = everyInput();
  final small = EveryTypeInputs(
    f32: TensorInput(Float32List(5)), f64: input.f64, f16: input.f16, i8: input.i8, i16: input.i16,
    i32: input.i32, i64: input.i64, u8: input.u8, flag: input.flag, word: input.word, scalar: input.scalar, rows: input.rows,
  );
  final unshaped = EveryTypeInputs(
    f32: input.f32, f64: input.f64, f16: input.f16, i8: input.i8, i16: input.i16, i32: input.i32,
    i64: input.i64, u8: input.u8, flag: input.flag, word: input.word, scalar: input.scalar, rows: TensorInput(Float32List(6)),
  );
  final codes = {
    'small': await codeOf(() => model.run(small)),
    'unshaped': await codeOf(() => model.run(unshaped)),
    'cancelled': await codeOf(() => model.run(input, cancellation: Cancellation()..cancel())),
  };
  await model.dispose();
  await model.dispose();
  codes['disposed'] = await codeOf(() => model.run(input));
  codes['library'] = await codeOf(() => EveryType.load(LoadOptions(library: '$folder/none.so')));
  codes['missing'] = await codeOf(() => EveryType.load(options(source: const ModelSource.folder('/nowhere'))));
  codes['no file'] = await codeOf(() => EveryType.load(options(source: const ModelSource.path('/nowhere'))));
  codes['no model'] = await codeOf(() => EveryType.load(options(source: ModelSource.path(noModel))));
  codes['corrupted'] = await codeOf(
    () => EveryType.load(options(source: ModelSource.path(noModel, sha256: '${'0' * 64}'))),
  );
  codes['other model'] = await codeOf(() => EveryType.load(options(source: ModelSource.path('$folder/other'))));
  codes['own model'] = await codeOf(() async {
    final own = await OrientationModel.load(options(source: ModelSource.path('$folder/own')));
    await own.dispose();
  });
  codes['options'] = await codeOf(() => EveryType.load(const LoadOptions(threads: 257)));
  final narrow = await OrientationModel.load(options(queue: 1));
  final picture = Picture(Uint8List(4 * 64 * 64), width: 64, height: 64);
  final first = narrow.classify(picture);
  codes['busy'] = await codeOf(() => narrow.classify(picture));
  await first;
  codes['picture'] = await codeOf(() => narrow.classify(Picture(Uint8List(9), width: 64, height: 64)));
  final late = Cancellation();
  final ended = codeOf(() => narrow.classify(picture, cancellation: late));
  late.cancel();
  codes['cancelled under way'] = await ended;
  await narrow.dispose();
  say('errors', codes);
}

Future<void> fallbacks() async {
  final events = <String>[];
  final printed = <Object>[];
  final model = await OrientationModel.load(
    options(
      providers: const [Provider.xnnpack, Provider.nnapi, Provider.cpu],
      observer: ModelObserver(
        onLoad: (event) {
          events.add('load ${event.info.name} ${event.provider.name}');
          printed.add(event);
        },
        onRun: (event) {
          events.add('run ${event.model} ${event.error?.code.name}');
          printed.add(event);
        },
        onFailure: (event) => events.add('failure ${event.error.code.name}'),
        onRelease: (event) {
          events.add('release ${event.model}');
          printed.add(event);
        },
      ),
    ),
  );
  say('fallbacks', [
    for (final each in model.fallbacks) [each.provider.name, each.reason],
  ]);
  await model.classify(Picture(Uint8List(4 * 8 * 8), width: 8, height: 8));
  final outputs = await model.run(
    OrientationModelInputs(
      xPixels: TensorInput(Uint8List(4 * 8 * 8), shape: const [8, 8, 4]),
      xChannels: TensorInput(Int64List.fromList([0, 1, 2])),
      xOrientation: TensorInput(Int64List.fromList([1])),
      xChroma: TensorInput(Uint8List(1), shape: const [1, 1, 1]),
      xConversion: TensorInput(Int64List(3)),
    ),
  );
  await model.dispose();
  printed.addAll([model.info, model.fallbacks.first, outputs, OrientationModel.inputs.first]);
  say('printed', [for (final each in printed) '$each']);
  say('events', events);
  say('info', [model.info.name, model.info.version, model.info.sha256.length, model.info.onnxRuntimeVersion]);
}

Future<void> frames() async {
  final model = await OrientationModel.load(options());
  final source = StreamController<Picture>();
  final results = <List<Classification>>[];
  final done = model.frames(source.stream, top: 1).forEach(results.add);
  for (var number = 0; number < 20; number++) {
    source.add(Picture(Uint8List(4 * 64 * 64)..fillRange(0, 4 * 64 * 64, number * 10), width: 64, height: 64));
  }
  await source.close();
  await done;
  say('frames', results.length);
  await model.dispose();
}

Future<void> isolates() async {
  final pictures = [for (var shade = 0; shade < 4; shade++) shade * 60];
  final at = library;
  Future<double> score(int shade) => Isolate.run(() async {
    final model = await OrientationModel.load(LoadOptions(library: at));
    final pixels = Uint8List(4 * 64 * 64)..fillRange(0, 4 * 64 * 64, shade);
    final found = await model.classify(Picture(pixels, width: 64, height: 64), top: 1);
    await model.dispose();
    return found.first.score;
  });
  final together = await Future.wait(pictures.map(score));
  final apart = [for (final shade in pictures) await score(shade)];
  say('isolates', [together, apart]);
}

/// How much more memory the process has after so many rounds: what stays each time does so in the second and third batch
/// too, unlike garbage that nobody has collected yet.
Future<int> _grownKib(int rounds, Future<void> Function() work) async {
  var grown = 0;
  for (var batch = 0; batch < 3; batch++) {
    final before = residentKib();
    for (var round = 0; round < rounds; round++) {
      await work();
    }
    grown = residentKib() - before;
    if (grown < 16 * 1024) break;
  }
  return grown;
}

Future<void> memory() async {
  final model = await Names.load(options());
  final values = TensorInput(Float32List(4096));
  final input = NamesInputs(
    cafe: values,
    cafe2: values,
    x: values,
    itS1: values,
    constructorValue: values,
    proto: values,
    letValue: values,
    aB: values,
    aB2: values,
  );
  for (var round = 0; round < 200; round++) {
    await model.run(input);
  }
  final runs = await _grownKib(1000, () => model.run(input));
  await model.dispose();
  Future<void> load() async => (await Names.load(options())).dispose();
  for (var round = 0; round < 10; round++) {
    await load();
  }
  say('memory', {'runs': runs, 'loads': await _grownKib(50, load)});
}

/// Threads of models that nobody refers to any more, right after loading them and when they have been collected.
Future<void> forgotten() async {
  final before = status('Threads');
  final models = <Names>[]; // none is collected while it is among them
  for (var number = 0; number < 10; number++) {
    models.add(await Names.load(LoadOptions(library: library, threads: 5)));
  }
  final loaded = status('Threads') - before;
  if (models.any((each) => each.provider != Provider.cpu)) throw StateError('runs on another provider');
  models.clear();
  var left = loaded;
  for (var turn = 0; turn < 1200 && left > 8; turn++) {
    List.generate(1 << 20, (each) => '$each', growable: false);
    await Future<void>.delayed(const Duration(milliseconds: 50));
    left = status('Threads') - before;
  }
  say('forgotten', [loaded, left]);
}

Future<void> main(List<String> arguments) async {
  library = arguments[0];
  folder = arguments[1];
  await everyType();
  await realModels();
  infinities();
  await errors(arguments[2]);
  await fallbacks();
  await frames();
  await isolates();
  await memory();
  await forgotten();
  say('done', true);
}
