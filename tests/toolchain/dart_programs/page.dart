// Runs the models of the package `models` where Dart is compiled for pages; leaves JSON of all that it found in the
// global `said`. The global `library`, where there is one, is the folder of the package.

import 'dart:async';
import 'dart:convert';
import 'dart:js_interop';
import 'dart:js_interop_unsafe';
import 'dart:math';
import 'dart:typed_data';

import 'package:models/models.dart';

final Map<String, Object?> said = {};
final String? library = globalContext.getProperty<JSString?>('library'.toJS)?.toDart;

LoadOptions options({
  ModelSource source = const ModelSource.bundled(),
  List<Provider>? providers,
  ModelObserver? observer,
  int queue = 64,
  int threads = 0,
  Proof? proof,
}) => library == null
    ? LoadOptions(
        source: source,
        providers: providers,
        proof: proof,
        observer: observer,
        queue: queue,
        threads: threads,
      )
    : LoadOptions(
        source: source,
        providers: providers,
        proof: proof,
        observer: observer,
        queue: queue,
        threads: threads,
        library: library!,
      );

final Uint8List pixels = Uint8List.fromList([for (var at = 0; at < 320 * 240 * 4; at++) (at * 37 + at ~/ 1001) & 255]);
final Float32List sound = Float32List.fromList([for (var at = 0; at < 576 * 3; at++) sin(at * at / 900) / 2]);
final Picture picture = Picture(pixels, width: 320, height: 240);

Future<String> codeOf(Future<Object?> Function() call) async {
  try {
    await call();
    return 'none';
  } on ModelException catch (error) {
    return error.code.name;
  }
}

Future<void> everyType() async {
  final model = await EveryType.load(options());
  final out = await model.run(
    EveryTypeInputs(
      f32: TensorInput(Float32List.fromList([1, 2, 3, 4, 5, 6])),
      f64: TensorInput(Float64List.fromList([1, 2, 3, 4, 5, 0.1])),
      f16: TensorInput(Uint16List.fromList([0x3c00, 2, 3, 4, 5, 6])),
      i8: TensorInput(Int8List.fromList([-128, 2, 3, 4, 5, 127])),
      i16: TensorInput(Int16List.fromList([-32768, 2, 3, 4, 5, 32767])),
      i32: TensorInput(Int32List.fromList([-2147483648, 2, 3, 4, 5, 2147483647])),
      i64: const TensorInput([9007199254740991, -9007199254740991, -4294967296, 4294967295, 5, -6]),
      u8: TensorInput(Uint8List.fromList([255, 2, 3, 4, 5, 6])),
      flag: TensorInput(Uint8List.fromList([1, 0, 0, 1, 1, 0])),
      word: const TensorInput(['a', '', 'größe', '日本', '\u{1f600}', 'f']),
      scalar: TensorInput(Float32List.fromList([1.5])),
      rows: TensorInput(Float32List.fromList([1, 2, 3, 4, 5, 6]), shape: const [3, 2]),
    ),
  );
  said['every_type'] = {
    'f32': out.f32T.data, 'f64': out.f64T.data, 'f16': out.f16T.data, 'i8': out.i8T.data,
    'i16': out.i16T.data, 'i32': out.i32T.data, 'i64': out.i64T.data, 'u8': out.u8T.data, 'flag': out.flagT.data,
    'word': out.wordT.data, 'u16': out.u16T.data, 'u32': out.u32T.data, 'doubled': out.doubled.data,
    'columns': out.columns.data, 'columns_shape': out.columns.shape, 'shape': out.f32T.shape,
  };
  said['types'] = [
    out.f32T.data is Float32List, out.f64T.data is Float64List, out.u16T.data is Uint16List, out.i8T.data is Int8List,
  ];
  await model.dispose();
}

late final Minilm minilm;

Future<void> realModels() async {
  minilm = await Minilm.load(options());
  const shape = [2, 6];
  final out = await minilm.run(
    MinilmInputs(
      inputIds: const TensorInput([101, 2023, 2003, 1037, 3231, 102, 101, 7592, 102, 0, 0, 0], shape: shape),
      attentionMask: const TensorInput([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0], shape: shape),
      tokenTypeIds: TensorInput(List.filled(12, 0), shape: shape),
    ),
  );
  said['minilm'] = out.lastHiddenState.data;
  said['minilm_shape'] = out.lastHiddenState.shape;
  final orientation = await OrientationModel.load(options());
  final plane = PicturePlane(pixels, bytesPerRow: 320);
  final chroma = PicturePlane(pixels, bytesPerRow: 320, bytesPerPixel: 2);
  final yuv = Picture.yuv420(y: plane, u: chroma, v: chroma, width: 320, height: 240);
  said['orientation'] = [
    for (final each in [picture, yuv])
      {for (final found in await orientation.classify(each, top: 4)) found.label: found.score},
  ];
  said['first'] = [for (final each in await orientation.classify(picture, top: 1)) each.index];
  final silero = await SileroVad.load(options());
  final scores = <double>[];
  for (final start in [0, 576, 1152, -1]) {
    if (start < 0) silero.reset();
    final part = Float32List.sublistView(sound, max(start, 0), max(start, 0) + 576);
    final heard = await silero.predict(Sound(part, rate: 16000), const TensorInput([16000]));
    scores.add(heard.output.data.first);
  }
  said['silero'] = scores;
  final tokens = await Tokens.load(options());
  said['tokens'] = [
    for (final text in ['The quick brown fox', '', '\u{1f600} the']) (await tokens.predict(text)).ids.data,
  ];
  final tests = [await minilm.selfTest(), await orientation.selfTest(), await silero.selfTest()];
  said['self_tests'] = {for (final each in tests) each.model: [each.passed, each.outputs.length, '$each']};
  said['frames'] = await orientation.frames(Stream.fromIterable([picture, picture, picture, yuv])).length;
  await Future.wait([orientation.dispose(), silero.dispose(), tokens.dispose()]);
}

Future<void> failures() async {
  final model = await OrientationModel.load(options(queue: 1));
  final cancelled = Cancellation()..cancel();
  final later = Cancellation();
  final first = codeOf(() => model.classify(picture, cancellation: later));
  final busy = codeOf(() => model.classify(picture));
  later.cancel();
  final small = TensorInput(List.filled(2, 1));
  said['errors'] = {
    'busy': await busy,
    'cancelled under way': await first,
    'cancelled': await codeOf(() => model.classify(picture, cancellation: cancelled)),
    'picture': await codeOf(() => model.classify(Picture(Uint8List(3), width: 2, height: 2))),
    'unshaped': await codeOf(
      () => minilm.run(MinilmInputs(inputIds: small, attentionMask: small, tokenTypeIds: small)),
    ),
    'options': await codeOf(() => Names.load(options(threads: 1000))),
    'folder': await codeOf(() => Names.load(options(source: const ModelSource.folder('/models')))),
    'no module': await codeOf(() => Names.load(const LoadOptions(library: '/nowhere/'))),
    'no file': await codeOf(() => Names.load(options(source: const ModelSource.path('nothing.ort')))),
    'disposed': await codeOf(() async {
      await model.dispose();
      await model.classify(picture);
    }),
  };
  await minilm.dispose();
}

Future<void> observed() async {
  final events = <String>[];
  final waited = <bool>[];
  final observer = ModelObserver(
    onLoad: (event) => events.add('load ${event.info.name} ${event.provider.name}'),
    onRun: (event) {
      events.add('run ${event.model} ${event.error?.code.name}');
      waited.add(event.queued > Duration.zero && event.duration > Duration.zero);
      throw StateError('an observer of the app fails');
    },
    onFailure: (event) => events.add('failure ${event.model} ${event.error.code.name}'),
    onRelease: (event) => events.add('release ${event.model}'),
  );
  final model = await OrientationModel.load(options(observer: observer, providers: [Provider.xnnpack, Provider.webgpu]));
  await Future.wait([model.classify(picture), model.classify(picture)]);
  await codeOf(() => model.classify(picture, cancellation: Cancellation()..cancel()));
  said['fallbacks'] = [for (final each in model.fallbacks) each.provider.name];
  said['info'] = [model.info.name, model.info.version, model.info.sha256.length, model.info.file];
  await model.dispose();
  await codeOf(() => OrientationModel.load(options(observer: observer, threads: -1)));
  said['events'] = events;
  final proved = await OrientationModel.load(options(providers: [Provider.webgpu], proof: const Proof()));
  said['proved'] = [proved.provider.name, '${proved.info.proofs}'];
  said['waited'] = waited.last;
}

Future<void> main() async {
  try {
    await everyType();
    await realModels();
    await failures();
    await observed();
  } on Object catch (error, trace) {
    said['failure'] = '$error $trace';
  }
  globalContext.setProperty('said'.toJS, jsonEncode(said).toJS);
}
