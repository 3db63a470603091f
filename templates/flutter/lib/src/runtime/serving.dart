// Which session serves the runs of a model: its own, or one on the CPU after failures.

import 'dart:async';

import 'cancellation.dart';
import 'errors.dart';
import 'heat.dart';
import 'options.dart';
import 'policies.dart';
import 'pressure.dart';
import 'reopening.dart';

const int _mostFailures = 3;

/// Does something with a session; `isRetry` after another one failed.
typedef Attempt<Session, Result> = Future<Result> Function(Session session, {required bool isRetry});

/// Follows the policies of the app.
final class Serving<Session extends Served> implements Releasable {
  /// `open` opens the model once more, on a provider, with a number of threads, 0 for the usual one. `heat` is null for
  /// sessions whose threads stay as they are.
  Serving(
    this.latest, {
    required Policies policies,
    required Future<Session> Function(Provider provider, int threads) open,
    required void Function(ReleaseReason reason) onRelease,
    Heat? heat,
  }) : _policies = policies,
       _open = open,
       _onRelease = onRelease,
       _heat = heat,
       fallbacks = latest.fallbacks {
    final provider = latest.provider;
    _usual = Reopening(latest, () => _reopen(provider));
    if (policies.releaseOnMemoryPressure) releaseLater(this);
  }

  /// The session that was open last.
  Session latest;

  /// Providers that did not start, or failed.
  List<Fallback> fallbacks;

  final Policies _policies;
  final Future<Session> Function(Provider provider, int threads) _open;
  final void Function(ReleaseReason reason) _onRelease;
  final Heat? _heat;
  late Reopening<Session> _usual;
  Reopening<Session>? _spare;

  /// The session of a provider that failed too often: closed after its last run.
  Reopening<Session>? _retired;
  int _failures = 0;
  bool _wasRun = false;
  bool _isEnded = false;

  /// Opens another session if the device has become hot or cool since, and nothing uses the one that is open: that runs
  /// the model until then.
  void followHeat() {
    final heat = _heat;
    if (heat == null || !_wasRun || _isEnded || !latest.provider.facts.isOnCores || !heat.isChanged) return;
    if (_usual.current == null) return heat.follow();
    if (_usual.isIdle) unawaited(_replace(heat));
  }

  Future<void> _replace(Heat heat) async {
    final before = heat.threads;
    heat.follow();
    unawaited(_spare?.release());
    if (await _usual.replace()) {
      _onRelease(ReleaseReason.thermal);
    } else {
      heat.threads = before;
    }
  }

  /// Does something on the session, which is opened first where it was released, and once more on the CPU if that fails.
  ///
  /// Throws ModelException `cancelled` as soon as `cancellation` ends the call while a session is opened.
  Future<Result> run<Result>(Attempt<Session, Result> attempt, [Cancellation? cancellation]) async {
    final usual = _usual;
    final provider = latest.provider;
    final mayRetry = _policies.retryOnCpu && provider != Provider.cpu;
    try {
      final result = await use((session) => attempt(session, isRetry: false), cancellation);
      _failures = 0;
      unawaited(_spare?.release());
      return result;
    } on ModelException catch (error) {
      if (!providerFaults.contains(error.code) || !mayRetry || _isEnded) rethrow;
      final result = await _retry(attempt, usual, provider, error, cancellation);
      return result;
    } finally {
      unawaited(_retired?.release());
    }
  }

  /// [run] without another attempt.
  Future<Result> use<Result>(Future<Result> Function(Session session) work, [Cancellation? cancellation]) {
    _wasRun = true;
    return _usual.use(work, cancellation);
  }

  @override
  void release() {
    if (!_wasRun) return;
    unawaited(_spare?.release());
    final released = _usual.release();
    if (released == null) return;
    unawaited(released);
    _onRelease(ReleaseReason.memory);
  }

  /// Closes all sessions, after the runs that were asked for.
  Future<void> end() async {
    _isEnded = true;
    forgetReleasable(this);
    await Future.wait([_usual.end(), ?_spare?.end(), ?_retired?.end()]);
  }

  Future<Session> _reopen(Provider provider) async {
    final session = await _open(provider, _heat?.threads ?? 0);
    fallbacks = List.unmodifiable([...fallbacks, ...session.fallbacks]);
    return latest = session;
  }

  /// If it succeeds on the CPU, what failed is the provider; else it may be the input, and the CPU's session does not stay.
  Future<Result> _retry<Result>(
    Attempt<Session, Result> attempt,
    Reopening<Session> failed,
    Provider provider,
    ModelException error,
    Cancellation? cancellation,
  ) async {
    // Others may have failed before, and the model may be on the CPU since.
    final cpu = identical(_retired, failed) ? _usual : _cpu();
    try {
      return await cpu.use((session) async {
        final result = await attempt(session, isRetry: true);
        if (identical(_usual, failed)) _countFailure(cpu, session, error);
        return result;
      }, cancellation);
    } on ModelException catch (again) {
      unawaited(_spare?.release());
      if (again.code == ModelErrorCode.cancelled || again.code == ModelErrorCode.disposed) rethrow;
      throw ModelException(again.code, '${again.message}; ${provider.name} had failed before: ${error.message}');
    }
  }

  Reopening<Session> _cpu() => _spare ??= Reopening(null, () => _open(Provider.cpu, _heat?.threads ?? 0));

  void _countFailure(Reopening<Session> cpu, Session session, ModelException error) {
    if (++_failures < _mostFailures) return;
    fallbacks = List.unmodifiable([...fallbacks, Fallback(latest.provider, error.message)]);
    latest = session;
    _retired = _usual;
    _usual = cpu;
    _spare = null;
  }
}
