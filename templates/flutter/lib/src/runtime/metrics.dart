// Counts what models do, for a dashboard or a log.

import 'dart:math' as math;

import 'errors.dart';
import 'options.dart';

/// How long something took; all zero before the first time. Percentiles are at most 10 % too high.
final class Durations {
  /// Made by this package.
  const Durations({
    required this.count,
    required this.mean,
    required this.min,
    required this.max,
    required this.p50,
    required this.p90,
    required this.p99,
  });

  /// How often.
  final int count;

  /// On average.
  final Duration mean;

  /// The shortest.
  final Duration min;

  /// The longest.
  final Duration max;

  /// Half of all took no longer.
  final Duration p50;

  /// Nine tenths of all took no longer.
  final Duration p90;

  /// 99 of 100 took no longer.
  final Duration p99;

  @override
  String toString() => '$count times, p50 $p50, p90 $p90, p99 $p99, at most $max';
}

/// Counts of one model until now.
final class ModelSnapshot {
  /// Made by [ModelMetrics].
  const ModelSnapshot._(
    this._counts, {
    required this.model,
    required this.latency,
    required this.queue,
    required this.throughput,
  });

  final _Counts _counts;

  /// Its name.
  final String model;

  /// How long runs took that succeeded.
  final Durations latency;

  /// How long these waited for their turn, without those that repeated one that failed.
  final Durations queue;

  /// Runs per second since the first one began.
  final double throughput;

  /// Version of the package that contains it; empty before the first load.
  String get version => _counts.loaded?.info.version ?? '';

  /// Provider of the last run that succeeded, or of the last load before any; null before that.
  Provider? get provider => _counts.provider ?? _counts.loaded?.provider;

  /// Providers that did not start at the last load.
  List<Fallback> get fallbacks => _counts.loaded?.fallbacks ?? const [];

  /// How often it was loaded.
  int get loads => _counts.loads;

  /// Loads that failed.
  int get failures => _counts.failures;

  /// Duration of the last load.
  Duration get loadDuration => _counts.loaded?.duration ?? Duration.zero;

  /// Resident bytes of the process after the last load; null where the platform does not tell.
  int? get memoryBytes => _counts.loaded?.memoryBytes;

  /// Number of runs, those that failed or were cancelled included.
  int get runs => _counts.runs;

  /// Runs that failed: not those that were cancelled.
  int get errors => _counts.errors;

  /// Releases of an updater that were banned after they had failed on this device.
  int get bans => _counts.bans;

  /// Runs that repeated one that failed.
  int get retries => _counts.retries;

  /// The counts under names as OpenTelemetry has them, in seconds and bytes.
  Map<String, Object> attributes() => {
    'mobpack.model.name': model,
    'mobpack.model.version': version,
    'mobpack.provider': ?provider?.name,
    'mobpack.load.duration': _seconds(loadDuration),
    'mobpack.run.count': runs,
    'mobpack.run.errors': errors,
    'mobpack.run.retries': retries,
    'mobpack.release.bans': bans,
    'mobpack.run.duration.p50': _seconds(latency.p50),
    'mobpack.run.duration.p90': _seconds(latency.p90),
    'mobpack.run.duration.p99': _seconds(latency.p99),
    'mobpack.queue.duration.p50': _seconds(queue.p50),
    'mobpack.queue.duration.p90': _seconds(queue.p90),
    'mobpack.queue.duration.p99': _seconds(queue.p99),
    'mobpack.run.throughput': throughput,
    'mobpack.fallback.reasons': fallbacks.map((each) => '${each.provider.name}: ${each.reason}').join('; '),
    'process.memory.usage': ?memoryBytes,
  };

  @override
  String toString() => '${attributes()}';
}

/// Counts what its [observer] is told. One may observe any number of models; those of the same name are counted together.
///
/// ```dart
/// final metrics = ModelMetrics();
/// final model = await Classifier.load(LoadOptions(observer: metrics.observer));
/// for (final each in metrics.snapshot()) {
///   send(each.attributes());
/// }
/// ```
final class ModelMetrics {
  final Map<String, _Counts> _models = {};

  /// For the option of `load`.
  late final ModelObserver observer = ModelObserver(
    onLoad: (event) => _of(event.info.name).load(event),
    onRun: (event) => _of(event.model).run(event),
    onFailure: (event) => _of(event.model).failures++,
    onBan: (event) => _of(event.model).bans++,
  );

  /// Counts of each model that was loaded or failed to load, in the order in which they were first heard of.
  List<ModelSnapshot> snapshot() => [for (final MapEntry(:key, :value) in _models.entries) value.snapshot(key)];

  _Counts _of(String model) => _models[model] ??= _Counts();
}

/// The counts of one model.
final class _Counts {
  LoadEvent? loaded;
  Provider? provider;
  int loads = 0;
  int failures = 0;
  int runs = 0;
  int errors = 0;
  int retries = 0;
  int bans = 0;
  final Stopwatch _sinceFirst = Stopwatch();
  Duration _first = Duration.zero;
  final _Histogram _latency = _Histogram();
  final _Histogram _queue = _Histogram();

  void load(LoadEvent event) {
    loads++;
    loaded = event;
  }

  void run(RunEvent event) {
    if (runs++ == 0) {
      _first = event.duration;
      _sinceFirst.start();
    }
    if (event.isRetry) retries++;
    final error = event.error;
    if (error != null) {
      if (error.code != ModelErrorCode.cancelled) errors++;
      return;
    }
    provider = event.provider;
    _latency.add(event.duration);
    if (!event.isRetry) _queue.add(event.queued);
  }

  ModelSnapshot snapshot(String model) {
    final copy = _Counts()
      ..loaded = loaded
      ..provider = provider
      ..loads = loads
      ..failures = failures
      ..runs = runs
      ..errors = errors
      ..retries = retries
      ..bans = bans;
    final seconds = math.max(_seconds(_sinceFirst.elapsed + _first), _least);
    return ModelSnapshot._(
      copy,
      model: model,
      latency: _latency.durations(),
      queue: _queue.durations(),
      throughput: runs == 0 ? 0 : runs / seconds,
    );
  }
}

double _seconds(Duration duration) => duration.inMicroseconds / Duration.microsecondsPerSecond;

/// The upper bound of the first bucket, in seconds.
const double _least = 1e-6;

/// Up to a quarter of an hour; longer times are in the last bucket, whose percentile is the longest of all.
final List<double> _bounds = List.generate(218, (index) => _least * math.pow(1.1, index));

/// Counts durations in buckets, each 10 % longer than the one before.
final class _Histogram {
  final List<int> _counts = List.filled(_bounds.length + 1, 0);
  int _count = 0;
  double _sum = 0;
  double _min = double.infinity;
  double _max = 0;

  void add(Duration duration) {
    final seconds = _seconds(duration);
    final bucket = _bounds.indexWhere((bound) => bound >= seconds);
    _counts[bucket < 0 ? _bounds.length : bucket]++;
    _count++;
    _sum += seconds;
    _min = math.min(_min, seconds);
    _max = math.max(_max, seconds);
  }

  Durations durations() => Durations(
    count: _count,
    mean: _duration(_count == 0 ? 0 : _sum / _count),
    min: _duration(_count == 0 ? 0 : _min),
    max: _duration(_max),
    p50: _percentile(0.5),
    p90: _percentile(0.9),
    p99: _percentile(0.99),
  );

  /// The bound of the bucket with the duration that at least `share` of all are not longer than.
  Duration _percentile(double share) {
    if (_count == 0) return Duration.zero;
    final rank = (share * _count).ceil();
    var (below, bucket) = (0, 0);
    while (bucket < _counts.length - 1 && (below += _counts[bucket]) < rank) {
      bucket++;
    }
    return _duration(bucket < _bounds.length ? math.min(_bounds[bucket], _max) : _max);
  }
}

Duration _duration(double seconds) => Duration(microseconds: (seconds * Duration.microsecondsPerSecond).round());
