// What models do by themselves when something is taken away from them: with sessions that only say that they are some, and
// with models of the package `typed`.

import 'dart:async';
import 'dart:convert';
import 'dart:ffi' hide Size;
import 'dart:io';
import 'dart:isolate';
import 'dart:typed_data';

import 'package:typed/src/runtime/checked.dart';
import 'package:typed/src/runtime/descriptor.dart';
import 'package:typed/src/runtime/digest.dart';
import 'package:typed/src/runtime/feeding.dart';
import 'package:typed/src/runtime/frames.dart';
import 'package:typed/src/runtime/heat.dart';
import 'package:typed/src/runtime/library.dart';
import 'package:typed/src/runtime/mapped_file.dart';
import 'package:typed/src/runtime/memory.dart';
import 'package:typed/src/runtime/model.dart';
import 'package:typed/src/runtime/objective_c.dart';
import 'package:typed/src/runtime/onnxruntime.dart';
import 'package:typed/src/runtime/places.dart' show copied;
import 'package:typed/src/runtime/reopening.dart';
import 'package:typed/src/runtime/serving.dart';
import 'package:typed/src/runtime/storage.dart';
import 'package:typed/src/runtime/tensor.dart' show HeldTensor;
import 'package:typed/src/runtime/worker.dart';
import 'package:typed/typed.dart';

void say(String name, Object? value) => print('$name ${jsonEncode(value)}');

/// A session that fails, or not.
final class Fake implements Served {
  Fake(this.provider, this.log, {this.fails = false}) {
    log.add('open ${provider.name}');
  }

  @override
  final Provider provider;
  final List<String> log;
  bool fails;

  @override
  bool isEnded = false;

  @override
  List<Fallback> get fallbacks => const [];

  @override
  Future<void> close() async => log.add('close ${provider.name}');
}

Serving<Fake> serving(
  Fake first,
  List<String> log, {
  Policies policies = const Policies(),
  Heat? heat,
  Future<Fake> Function(Provider provider, int threads)? open,
}) => Serving(
  first,
  policies: policies,
  open: open ?? (provider, threads) async => Fake(provider, log),
  onRelease: (reason) => log.add('release ${reason.name}'),
  heat: heat,
);

Future<String> ran(Serving<Fake> serving, [Cancellation? cancellation]) => codeOf(
  () => serving.run((session, {required isRetry}) async {
    if (session.fails) throw ModelException(ModelErrorCode.runtime, 'no kernel on ${session.provider.name}');
    return '${session.provider.name}${isRetry ? ' again' : ''}';
  }, cancellation),
);

Future<String> codeOf(Future<Object?> Function() work) async {
  try {
    return '${await work()}';
  } on ModelException catch (error) {
    failure = error.message;
    return error.code.name;
  }
}

/// Of the last call of [codeOf] that failed.
String failure = '';

Future<void> retries() async {
  final log = <String>[];
  final all = serving(Fake(Provider.nnapi, log, fails: true), log);
  final answers = [for (var run = 0; run < 4; run++) await ran(all)];
  await all.end();
  say('retries', [answers, log, all.latest.provider.name, all.fallbacks.map((each) => each.reason).toList()]);
  final once = Fake(Provider.nnapi, [], fails: true);
  final some = serving(once, []);
  final mixed = <String>[];
  for (final fails in [true, true, false, true, true, false]) {
    once.fails = fails;
    mixed.add(await ran(some));
  }
  say('three in a row', [mixed, some.latest.provider.name]);
  final never = serving(Fake(Provider.nnapi, [], fails: true), [], policies: const Policies(retryOnCpu: false));
  final cpu = serving(Fake(Provider.cpu, [], fails: true), []);
  say('not repeated', [await ran(never), await ran(cpu)]);
}

/// What no provider computes, and what comes between.
Future<void> badInputs() async {
  final log = <String>[];
  final first = Fake(Provider.nnapi, log, fails: true);
  final some = serving(first, log, open: (provider, threads) async => Fake(provider, log, fails: true));
  final code = await ran(some);
  final words = failure;
  final passing = Fake(Provider.nnapi, log, fails: true);
  final other = serving(passing, log);
  final answers = [await ran(other)];
  passing.fails = false;
  answers.add(await ran(other));
  say('bad inputs', [code, words, log, answers]);
}

/// Sessions that take for ever to open, and hosts that end.
Future<void> hosts() async {
  final log = <String>[];
  final first = Fake(Provider.cpu, log);
  final some = serving(first, log);
  first.isEnded = true;
  say('another host', [await ran(some), log]);
  final endless = serving(
    Fake(Provider.cpu, log)..isEnded = true,
    log,
    open: (provider, threads) => Completer<Fake>().future,
  );
  final cancellation = Cancellation();
  final waiting = ran(endless, cancellation);
  cancellation.cancel();
  say('cancelled while it opens', await waiting);
  await endless.end();
}

Future<void> heat() async {
  final log = <String>[];
  final threads = <int>[];
  var now = Warmth.cool;
  var mayOpen = true;
  Serving<Fake> heated(Provider provider, {Duration dwell = Duration.zero}) => serving(
    Fake(provider, log),
    log,
    heat: Heat(4, () => now, dwell: dwell),
    open: (provider, count) async {
      if (!mayOpen) throw const ModelException(ModelErrorCode.missing, 'the file is gone');
      threads.add(count);
      return Fake(provider, log);
    },
  );
  Future<Object> told(Serving<Fake> some, List<Warmth> levels) async {
    threads.clear();
    log.clear();
    await ran(some);
    for (now in levels) {
      some.followHeat();
      await ran(some);
      await Future<void>.delayed(Duration.zero);
    }
    return [
      [...threads],
      [...log],
    ];
  }

  const both = [Warmth.hot, Warmth.warm, Warmth.hot, Warmth.cool, Warmth.warm];
  final cpu = heated(Provider.cpu);
  say('heat', await told(cpu, both));
  now = Warmth.hot;
  await cpu.run((session, {required isRetry}) async => cpu.followHeat());
  say('heat while it runs', threads.length);
  say('heat of others', await told(heated(Provider.coreml), both));
  say('heat at once', await told(heated(Provider.xnnpack, dwell: const Duration(hours: 1)), both));
  now = Warmth.cool;
  mayOpen = false;
  final offline = heated(Provider.cpu);
  say('heat without a file', [await told(offline, both), await ran(offline)]);
}

/// Frames that come while a listener is busy.
Future<void> frames() async {
  final source = StreamController<int>();
  final runs = <int>[];
  final seen = <int>[];
  final results = latestOf(source.stream, (frame, cancellation) async {
    runs.add(frame);
    return frame;
  });
  source.add(0);
  await for (final each in results) {
    seen.add(each);
    if (seen.length > 3) break;
    for (var frame = 1; frame < 100; frame++) {
      source.add(100 * seen.length + frame);
      if (frame % 10 == 0) await Future<void>.delayed(Duration.zero);
    }
    await Future<void>.delayed(Duration.zero);
  }
  final ended = StreamController<int>();
  final last = <int>[];
  final whole = latestOf(ended.stream, (frame, cancellation) async => frame).listen(last.add);
  whole.pause();
  for (var frame = 0; frame < 5; frame++) {
    ended.add(frame);
  }
  await ended.close();
  final before = [...last];
  whole.resume();
  await whole.asFuture<void>();
  say('latest frames', [seen, runs, before, last]);
}

/// Throws what is no ModelException, or ends its isolate, before a file is opened.
final class Broken implements FileOpening {
  const Broken({this.isDeadly = false});

  final bool isDeadly;

  @override
  ModelBytes open(ModelBytes bytes) => isDeadly ? Isolate.exit() : throw StateError('nobody expected this');
}

Future<void> workers(String library, Directory folder) async {
  const settings = SessionSettings(threads: 1, entries: {'session.record_ep_graph_assignment_info': '1'});
  PlacedFile file(String name) => PlacedFile.at('${folder.path}/$name.onnx', name, null);
  final worker = await Worker.start();
  Future<String> opened(PlacedFile file) =>
      codeOf(() async => (await worker.open(RuntimeLibrary.named(library), file, const [], settings)).outputs.length);
  final broken = await opened(file('own').openedBy(const Broken()));
  final words = failure;
  say('broken workers', [
    [broken, await opened(file('own'))],
    words,
  ]);
  final huge = await opened(file('huge'));
  final size = Int64List.fromList([1 << 50]);
  say('no memory', [huge, await codeOf(() => ranHuge(worker, size))]);
  final under = [opened(file('own').openedBy(const Broken(isDeadly: true))), opened(file('own'))];
  say('dead workers', [await Future.wait(under), await opened(file('own')), worker.isEnded]);
  await worker.close();
}

Future<Object> ranHuge(Worker worker, Int64List size) async {
  final memory = Arena();
  final address = memory.longs(size).address;
  final ran = await worker.run([
    FedTensor(0, ElementType.int64, const [1], address, 8, null),
  ], 0);
  return ran.outputs.length;
}

/// Bytes that are right, then with another byte at a place, as of the same file or another one.
Future<void> notes(Directory folder) async {
  const size = 1 << 20;
  final right = sha256Of(Uint8List(size));
  Future<String> checked(int changed, String identity, {bool isNoted = true}) => codeOf(() async {
    final memory = allocate(size);
    if (changed >= 0) memory[changed] = 1;
    final file = PlacedFile.inMemory(memory.address, size, 'model', hexOf(right), identity: identity);
    final bytes = ModelBytes.taken(memory.address, size);
    try {
      check(isNoted ? file.notedIn('${folder.path}/checked') : file, bytes);
    } finally {
      bytes.free();
    }
    return 'right';
  });
  final written = File('${folder.path}/written')..writeAsBytesSync(Uint8List(size));
  Future<String> mapped() => codeOf(() async {
    final bytes = ModelBytes.map(written.path);
    try {
      check(PlacedFile.at(written.path, 'model', hexOf(right)).notedIn('${folder.path}/checked'), bytes);
    } finally {
      bytes.free();
    }
    return 'right';
  });
  say('notes', [
    await checked(-1, 'one'),
    await checked(size ~/ 2, 'one'),
    await checked(size ~/ 2, 'one', isNoted: false),
    await checked(size ~/ 2, 'other'),
    await checked(size - 1, 'one'),
    await checked(0, 'one'),
    await checked(size ~/ 2, ''),
  ]);
  final first = await mapped();
  final open = written.openSync(mode: FileMode.append)..setPositionSync(size ~/ 2);
  open
    ..writeByteSync(1)
    ..closeSync();
  say('notes of files', [first, await mapped()]);
}

/// Runs that begin with what the one before has left.
Future<void> heldTensors(String library, Directory folder) async {
  const spec = TensorSpec('x', ElementType.float32, [null]);
  const file = PackagedFile('none', '', 0);
  const descriptor = ModelDescriptor(
    package: 'typed',
    name: 'twice',
    version: '1',
    library: '',
    inputs: [spec],
    outputs: [
      TensorSpec('y', ElementType.float32, [null]),
    ],
    setups: {
      'android': PlatformSetup(
        oldestRuntime: '1.0.0',
        providers: [],
        files: [
          ModelFile(file, providers: [Provider.cpu], chips: [], isFloat16: false, settings: {}, weights: []),
        ],
      ),
    },
    golden: [],
  );
  final source = ModelSource.path('${folder.path}/twice.onnx');
  final model = await LoadedModel.load(descriptor, LoadOptions(library: library, source: source));
  final first = TensorInput(Float32List.fromList([1, -2, 3]));
  var state = (await model.run([first], null, held: const [0])).single as HeldTensor;
  for (var run = 0; run < 3; run++) {
    final next = (await model.run([state], null, held: const [0])).single as HeldTensor;
    state.release();
    state = next;
  }
  final memory = Arena();
  final fed = fedTensor(0, spec, state, memory);
  final wrong = await codeOf(
    () => model.run([
      HeldTensor(state.data, const [2, 2], state.value, () {}),
    ], null),
  );
  say('held tensors', [state.data, fed.address, fed.value == state.value, wrong]);
  state.release();
  await model.dispose();
  final before = ProcessInfo.currentRss;
  final worker = await Worker.start();
  await worker.open(
    RuntimeLibrary.named(library),
    PlacedFile.at("${folder.path}/twice.onnx", 'twice', null).openedBy(const Padded()),
    const [],
    const SessionSettings(threads: 1, entries: {'session.record_ep_graph_assignment_info': '1'}),
  );
  final opened = ProcessInfo.currentRss;
  await worker.close();
  say('copied models', [(opened - before) >> 20, (opened - ProcessInfo.currentRss) >> 20]);
}

/// A copy of a file in 64 MiB, such as that of a decrypted one.
final class Padded implements FileOpening {
  const Padded();

  @override
  ModelBytes open(ModelBytes bytes) {
    final copy = allocate(64 << 20);
    copy.asTypedList(64 << 20).fillRange(0, 64 << 20, 1);
    copy.asTypedList(bytes.size).setAll(0, bytes.address.asTypedList(bytes.size));
    final size = bytes.size;
    bytes.free();
    return ModelBytes.taken(copy.address, size);
  }
}

/// A copy of an asset, while the isolate does something else.
Future<void> copies() async {
  const size = 5 << 19;
  final bytes = Uint8List.fromList([for (var at = 0; at < size; at++) at % 251]);
  var others = 0;
  Timer.run(() => others++);
  final memory = await copied(bytes);
  final isSame = hexOf(sha256Of(memory.asTypedList(size))) == hexOf(sha256Of(bytes));
  ModelBytes.taken(memory.address, size).free();
  say('copies', [isSame, others]);
}

/// What Apple's systems are asked, where a library has their functions.
Future<void> apple(Directory folder) async {
  const global = 0x102; // RTLD_NOW and RTLD_GLOBAL
  final process = DynamicLibrary.process();
  final open = process
      .lookupFunction<Pointer<Void> Function(Pointer<Void>, Int), Pointer<Void> Function(Pointer<Void>, int)>('dlopen');
  final opened = withArena((arena) => open(arena.text('${folder.path}/libobjective_c.so'), global));
  final state = numberOf(objectOf(classNamed('UIApplication'), 'sharedApplication'), 'applicationState');
  final heat = numberOf(objectOf(classNamed('NSProcessInfo'), 'processInfo'), 'thermalState');
  excludeFromBackup('/files');
  final told = process.lookupFunction<Pointer<Void> Function(), Pointer<Void> Function()>('told_to_objc')();
  say('apple', [opened != nullptr, state, heat, textAt(told)]);
  // As earlier packages kept them, and as a package finds them after that.
  final (before, after) = (Directory('${folder.path}/caches'), Directory('${folder.path}/support'));
  for (final name in const ['files/one', 'channels/stable/state.json', 'checked/one']) {
    File('${before.path}/$name').createSync(recursive: true);
  }
  moveKept(before, after);
  File('${before.path}/files/late').createSync(recursive: true);
  moveKept(before, after);
  List<String> names(Directory all) =>
      [for (final each in all.listSync(recursive: true).whereType<File>()) each.path.substring(all.path.length + 1)]
        ..sort();
  say('moved', [names(before), names(after)]);
}

/// Locks of isolates that have ended are free.
Future<void> locks(Directory folder) async {
  final file = File('${folder.path}/a.lock');
  final held = ReceivePort();
  final ended = ReceivePort();
  final isolate = await Isolate.spawn(_hold, (file.path, held.sendPort), onExit: ended.sendPort);
  await held.first;
  final taken = await lockedOrNull(file, () async => true);
  isolate.kill(priority: Isolate.immediate);
  await ended.first;
  say('locks', [taken, await lockedOrNull(file, () async => true)]);
}

Future<void> _hold((String, SendPort) given) => locked(File(given.$1), () {
  given.$2.send(true);
  return ReceivePort().first; // nothing comes
});

Future<void> release() async {
  final log = <String>[];
  final some = serving(Fake(Provider.cpu, log), log);
  some.release();
  await ran(some);
  some
    ..release()
    ..release();
  final both = await Future.wait([ran(some), ran(some)]);
  final kept = serving(Fake(Provider.cpu, []), log, policies: const Policies(releaseOnMemoryPressure: false));
  await ran(kept);
  releaseUnusedModels();
  await some.end();
  releaseUnusedModels();
  say('released', [log, both]);
}

Future<void> models(LoadOptions given, String own) async {
  final events = <String>[];
  final metrics = ModelMetrics();
  final told = ModelObserver(
    onLoad: (event) {
      metrics.observer.onLoad!(event);
      events.add('load ${event.info.name} ${(event.memoryBytes ?? 0) > 1 << 20}');
    },
    onRun: (event) {
      metrics.observer.onRun!(event);
      events.add('run ${event.error?.code.name} ${event.queued >= Duration.zero && event.duration > Duration.zero}');
      throw StateError('observers may fail');
    },
    onFailure: metrics.observer.onFailure,
    onRelease: (event) => events.add('release ${event.reason.name}'),
  );
  final options = LoadOptions(library: given.library, observer: told);
  final input = BrainInputs(x: TensorInput(Uint16List(6)));
  final brain = await Brain.load(options);
  await brain.warmUp(input, runs: 2);
  releaseUnusedModels();
  final both = await Future.wait([brain.run(input), brain.run(input)]);
  final trace = jsonDecode(File(await brain.profile(input, runs: 3)).readAsStringSync()) as List<Object?>;
  final runs = trace.where((each) => (each! as Map<String, Object?>)['name'] == 'model_run').length;
  final packaged = brain.assignment == null;
  final tested = await brain.selfTest();
  await brain.dispose();
  say('events', [events, both.length, runs, packaged, tested.passed]);
  final last = await Brain.load(given);
  final under = last.run(input);
  await last.dispose();
  say('disposed under way', (await under).y.shape);
  final onnx = await Brain.load(LoadOptions(library: given.library, source: ModelSource.path(own)));
  say('assignment', [
    for (final each in onnx.assignment!) [each.provider.name, each.nodes, each.macs],
  ]);
  await onnx.dispose();
  try {
    await Brain.load(LoadOptions(library: given.library, observer: told, source: const ModelSource.path('/nowhere')));
  } on ModelException {
    // counted
  }
  final ended = await Brain.load(options);
  final cancellation = Cancellation();
  final cancelled = codeOf(() => ended.run(input, cancellation: cancellation));
  cancellation.cancel();
  say('cancelled run', await cancelled);
  await ended.dispose();
  final [snapshot] = metrics.snapshot();
  say('metrics', [
    [snapshot.model, snapshot.version, snapshot.provider?.name, snapshot.loads, snapshot.failures],
    [snapshot.runs, snapshot.errors, snapshot.retries, snapshot.latency.count, snapshot.queue.count],
    snapshot.latency.min <= snapshot.latency.p50 && snapshot.latency.p50 <= snapshot.latency.p99,
    snapshot.latency.p99 <= snapshot.latency.max && snapshot.throughput > 0,
    snapshot.attributes().keys.toList(),
  ]);
  final percentiles = ModelMetrics();
  for (var run = 1; run <= 100; run++) {
    percentiles.observer.onRun!(RunEvent('m', Provider.cpu, Duration(milliseconds: run), null));
  }
  final [of] = percentiles.snapshot();
  percentiles.observer.onRun!(const RunEvent('m', Provider.cpu, Duration(seconds: 1), null, isRetry: true));
  final [repeated] = percentiles.snapshot();
  say('repeated', [repeated.runs, repeated.retries, repeated.latency.count, repeated.queue.count]);
  say('percentiles', [
    for (final each in [of.latency.p50, of.latency.p90, of.latency.p99, of.latency.mean]) each.inMicroseconds / 1000,
  ]);
}

Future<void> serve(LoadOptions options, String own) async {
  final folder = File(own).parent;
  await retries();
  await badInputs();
  await hosts();
  await frames();
  await workers(options.library!, folder);
  await locks(folder);
  await notes(folder);
  await apple(folder);
  await copies();
  await heldTensors(options.library!, folder);
  await heat();
  await release();
  await models(options, own);
}
