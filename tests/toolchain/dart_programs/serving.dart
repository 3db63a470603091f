// What models do by themselves when something is taken away from them: with sessions that only say that they are some, and
// with models of the package `typed`.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

import 'package:typed/src/runtime/heat.dart';
import 'package:typed/src/runtime/reopening.dart';
import 'package:typed/src/runtime/serving.dart';
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

Future<String> ran(Serving<Fake> serving) async {
  try {
    return await serving.run((session, {required isRetry}) async {
      if (session.fails) throw const ModelException(ModelErrorCode.runtime, 'no kernel');
      return '${session.provider.name}${isRetry ? ' again' : ''}';
    });
  } on ModelException catch (error) {
    return error.code.name;
  }
}

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

Future<void> heat() async {
  final log = <String>[];
  final threads = <int>[];
  var isHot = false;
  final some = serving(
    Fake(Provider.cpu, log),
    log,
    heat: Heat(4, () => isHot),
    open: (provider, count) async {
      threads.add(count);
      return Fake(provider, log);
    },
  );
  for (final hot in [true, true, false, false]) {
    isHot = hot;
    some.followHeat();
    await ran(some);
  }
  isHot = true;
  final under = some.run((session, {required isRetry}) async {
    some.followHeat();
    return session;
  });
  await under;
  some.followHeat();
  await ran(some);
  say('heat', [threads, log.where((each) => each.startsWith('release')).length]);
}

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
  say('assignment', [for (final each in onnx.assignment!) [each.provider.name, each.nodes, each.macs]]);
  await onnx.dispose();
  try {
    await Brain.load(LoadOptions(library: given.library, observer: told, source: const ModelSource.path('/nowhere')));
  } on ModelException {
    // counted
  }
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
  say('percentiles', [
    for (final each in [of.latency.p50, of.latency.p90, of.latency.p99, of.latency.mean]) each.inMicroseconds / 1000,
  ]);
}

Future<void> serve(LoadOptions options, String own) async {
  await retries();
  await heat();
  await release();
  await models(options, own);
}
