// Updates the models of a package as lines on standard input say, and answers each with a line of JSON.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

import 'package:models/models.dart';
import 'package:models/src/runtime/descriptor.dart';
import 'package:models/src/runtime/requests.dart';
import 'package:models/src/runtime/starting.dart';
import 'package:models/src/runtime/storage.dart';
import 'package:models/src/runtime/updating/attempts.dart';
import 'package:models/src/runtime/updating/delta.dart';
import 'package:models/src/runtime/updating/record.dart';
import 'package:models/src/runtime/updating/store.dart';
import 'package:models/src/runtime/updating/updater.dart';
import 'package:models/src/updates.dart';

const Duration pause = Duration(milliseconds: 10);
const Duration stall = Duration(seconds: 60);
Pace pace = const Pace(attempts: 2, firstPause: pause, stall: stall);

/// The updater with less patience.
final class Quick extends Updater {
  Quick(String address, UpdateOptions options)
    : super(delivery, address, options: options, pace: pace, isLeft: () => isLeft);
}

void show(Object value) => stdout.writeln(jsonEncode(value));

late final String address;
late final String library;
late String folder;
late Quick current;
bool? isUnmetered;
bool? isCharging;
int limit = 1 << 30;
SourceKind? source;
bool isLeft = false;
final ModelMetrics metrics = ModelMetrics();
List<String> failures = [];
Scorer? opened;

Quick updater() => Quick(
  address,
  UpdateOptions(
    folder: folder,
    load: LoadOptions(library: library, observer: metrics.observer),
    storageLimit: limit,
    conditions: () => DeviceConditions(isUnmetered: isUnmetered, isCharging: isCharging),
  ),
);

/// `upToDate` -> `up-to-date`
String dashed(String name) => name.replaceAllMapped(RegExp('[A-Z]'), (each) => '-${each.group(0)!.toLowerCase()}');

Map<String, Object> states() => {
  for (final MapEntry(:key, :value) in current.states.entries)
    key: {
      'phase': dashed(value.phase.name),
      'version': value.version,
      'reason': value.reason,
      'loaded': value.loadedBytes,
      'total': value.totalBytes,
    },
};

Future<double> sum(Scorer model, [Cancellation? cancellation]) async {
  final x = Float32List.fromList([for (var index = 0; index < 64; index++) index / 64]);
  final outputs = await model.run(
    ScorerInputs(x: TensorInput(x, shape: const [1, 64])),
    cancellation: cancellation,
  );
  return outputs.y.data.fold<double>(0, (sum, each) => sum + each);
}

/// Starts `count` runs of the open model at once, perhaps beside an update, and cancels `cancelled` of them.
Future<void> runs(int count, int cancelled, {required bool isUpdating}) async {
  final errors = <String>[];
  final sums = <double>{};
  var answers = 0;
  var slowest = Duration.zero;
  Future<void> one(Cancellation cancellation) async {
    final clock = Stopwatch()..start();
    try {
      sums.add(await sum(opened!, cancellation));
      answers++;
      if (clock.elapsed > slowest) slowest = clock.elapsed;
    } on ModelException catch (error) {
      if (error.code != ModelErrorCode.cancelled) errors.add('$error');
    }
  }

  final update = isUpdating ? current.update(force: true) : Future<void>.value();
  final cancellations = [for (var index = 0; index < count; index++) Cancellation()];
  final running = [for (final each in cancellations) one(each)];
  for (final each in cancellations.take(cancelled)) {
    each.cancel();
  }
  await running.wait;
  await update;
  show({
    'sums': [...sums],
    'answers': answers,
    'errors': errors.join('; '),
    'slowest': slowest.inMilliseconds,
  });
}

Future<void> load() async {
  failures = [];
  final observer = ModelObserver(
    onLoad: (event) => source = event.source,
    onFailure: (event) => failures.add('${event.error}'),
  );
  final options = LoadOptions(source: current.source, library: library, observer: observer);
  final model = opened = await Scorer.load(options);
  show({
    'version': model.info.version,
    'source': source!.name,
    'sum': await sum(model),
    'failures': failures,
    'state': states(),
  });
}

/// Applies each delta of a file of them, and tells which were refused, and with which results.
void applyVectors(String path) {
  final vectors = jsonDecode(File(path).readAsStringSync()) as Map<String, dynamic>;
  String write(String name, Object? text) {
    final file = File('$folder/$name')..writeAsBytesSync(base64.decode(text! as String));
    return file.path;
  }

  final from = write('source', vectors['source']);
  final wrong = <String>[];
  final taken = <String>[];
  for (final each in (vectors['applied'] as List).cast<Map<String, dynamic>>()) {
    applyDelta(from, write('delta', each['delta']), '$folder/result', 1 << 20);
    final result = base64.encode(File('$folder/result').readAsBytesSync());
    if (result != each['result']) wrong.add(each['name'] as String);
  }
  for (final each in (vectors['refused'] as List).cast<Map<String, dynamic>>()) {
    try {
      applyDelta(from, write('delta', each['delta']), '$folder/result', 1 << 20);
      taken.add(each['reason'] as String);
    } on DeltaException {
      continue;
    }
  }
  show({
    'applied': (vectors['applied'] as List).length,
    'refused': (vectors['refused'] as List).length,
    'wrong': wrong,
    'taken': taken,
  });
}

void patch(List<String> words) {
  final clock = Stopwatch()..start();
  applyDelta(words[1], words[2], words[3], int.parse(words[4]));
  show({'seconds': clock.elapsedMicroseconds / 1e6, 'KiB': ProcessInfo.maxRss ~/ 1024});
}

Future<void> cancel() async {
  final cancellation = Cancellation();
  final told = current.changes.listen((states) {
    if (states.values.any((each) => each.loadedBytes > 0)) cancellation.cancel();
  });
  try {
    await current.update(force: true, cancellation: cancellation);
  } finally {
    await told.cancel();
  }
  show({'states': states()});
}

/// What the record says of an attempt while the app is left and comes back, and of one whose isolate has ended.
Future<void> attempt() async {
  final model = delivery.models.first.descriptor.name;
  final store = UpdateStore(delivery, packageFolder(delivery.trust.package, folder));
  final counts = <int?>[];
  Future<int?> count() async => (await store.record()).of(model).attempts[AttemptKind.trying]?.count;
  Future<void> until({required bool left, required int? wanted}) async {
    isLeft = left;
    while (await count() != wanted) {
      await Future<void>.delayed(const Duration(milliseconds: 10));
    }
    counts.add(wanted);
  }

  Attempts attempts() => Attempts(store, model, () => isLeft, const {});
  await attempts().during(AttemptKind.trying, '9', () async {
    await until(left: false, wanted: 1);
    await until(left: true, wanted: null);
    await until(left: false, wanted: 1);
    await until(left: true, wanted: null);
  });
  isLeft = false;
  for (var isolate = 0; isolate < 3; isolate++) {
    final begun = Completer<void>();
    unawaited(
      attempts().during(AttemptKind.trying, '9', () {
        begun.complete();
        return Completer<void>().future;
      }),
    );
    await begun.future;
  }
  show({'counts': counts, 'begun': await count(), 'ended': await attempts().ended(AttemptKind.trying, '9')});
}

/// Folders that are left of what CoreML has compiled: of the app's own file, of two releases, and of the app's own again;
/// then without the second release.
Map<String, Object> compiled() {
  final own = delivery.models.first.descriptor;
  final release = own.released(version: '2', files: const [], golden: const []);
  final names = <String, String>{};
  void open(ModelDescriptor model, String name) {
    final file = ModelFile(
      PackagedFile(name, name * 64, 1),
      providers: const [Provider.coreml],
      chips: const [],
      isFloat16: false,
      settings: const {},
      weights: const [],
    );
    final setup = PlatformSetup(
      oldestRuntime: '1.29.0',
      providers: const [ProviderSetup(Provider.coreml, {})],
      files: [file],
    );
    final found = settingsOf(model, setup, Provider.coreml, file, const {}, threads: 1, runtime: '1.29.0');
    names[name] = found['ModelCacheDirectory']!;
  }

  List<String> left() => [
    for (final MapEntry(:key, :value) in names.entries)
      if (Directory(value).existsSync()) key,
  ];
  open(own, 'a');
  open(release, 'b');
  open(release, 'c');
  open(own, 'a');
  final all = left();
  forgetCompiled(own.package, (sha256) => sha256.startsWith('b'));
  final some = left();
  open(own, 'd');
  return {'all': all, 'some': some, 'next app': left()};
}

Future<void> answer(List<String> words) async {
  switch (words[0]) {
    case 'update':
      await current.update(force: words.length > 1);
    case 'cancel':
      return cancel();
    case 'load':
      return load();
    case 'test':
      final test = await opened!.selfTest();
      return show({'passed': test.passed, 'outputs': test.outputs.length});
    case 'run':
      return show({'sum': await sum(opened!)});
    case 'runs':
      return runs(int.parse(words[1]), int.parse(words[2]), isUpdating: words.length > 3);
    case 'pressure':
      releaseUnusedModels();
      return show({});
    case 'close':
      await opened!.dispose();
      opened = null;
      return show({'closed': true});
    case 'state':
      break;
    case 'left':
      isLeft = words[1] == 'yes';
    case 'attempt':
      return attempt();
    case 'release':
      releaseUnusedModels();
    case 'compiled':
      return show(compiled());
    case 'bans':
      return show({'bans': metrics.snapshot().fold(0, (sum, each) => sum + each.bans)});
    case 'freeze':
      await current.freeze();
    case 'unfreeze':
      await current.unfreeze();
    case 'pin':
      await current.pin(words[1], words[2]);
    case 'unpin':
      await current.unpin(words[1]);
    case 'remove':
      await current.remove();
    case 'metered':
      isUnmetered = const {'yes': false, 'no': true}[words[1]];
    case 'charging':
      isCharging = const {'yes': true, 'no': false}[words[1]];
    case 'limit':
      limit = int.parse(words[1]);
      current = updater();
    case 'device':
      await opened?.dispose();
      releaseUnusedModels();
      opened = null;
      isUnmetered = isCharging = null;
      isLeft = false;
      folder = words[1];
      limit = 1 << 30;
      pace = const Pace(attempts: 2, firstPause: pause, stall: stall);
      current = updater();
    case 'patience':
      final [metadata, file] = [for (final word in words.skip(1)) Duration(milliseconds: int.parse(word))];
      pace = Pace(attempts: 2, firstPause: pause, stall: stall, metadata: metadata, file: file);
      current = updater();
    case 'vectors':
      return applyVectors(words[1]);
    case 'patch':
      return patch(words);
    default:
      return show({'error': 'unknown', 'message': words[0]});
  }
  show({'states': states()});
}

Future<void> main(List<String> arguments) async {
  address = arguments[0];
  folder = arguments[1];
  library = arguments[2];
  current = updater();
  show({'states': states()});
  await for (final line in stdin.transform(utf8.decoder).transform(const LineSplitter())) {
    try {
      await answer(line.split(' '));
    } on DeltaException catch (error) {
      show({'error': 'refused', 'message': error.message});
    } on ModelException catch (error) {
      show({'error': error.code.name, 'message': error.message});
    }
  }
}
