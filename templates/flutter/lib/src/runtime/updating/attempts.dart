// Attempts at releases: what of them is written down, and what follows from failures.

import 'dart:async';
import 'dart:io';

import '../download.dart';
import '../errors.dart';
import '../observing.dart';
import '../options.dart';
import '../presence.dart';
import 'record.dart';
import 'store.dart';

/// How often it is looked whether the app is there: systems give it seconds after it was left.
const Duration _watch = Duration(milliseconds: 200);

/// Characters of a reason that is kept.
const int _mostWords = 500;

/// Conclusion that a failure allows about a release.
enum Fault {
  /// Nothing: it may be right another time.
  device,

  /// The release cannot be right.
  proven,

  /// Nothing that is sure: ONNX Runtime fails for many reasons.
  runtime;

  /// The failure of a release whose files are whole: the faults of others are those of the device's storage.
  factory Fault.of(ModelException failure) => switch (failure.code) {
    ModelErrorCode.badModel || ModelErrorCode.badInput || ModelErrorCode.corrupted => proven,
    ModelErrorCode.runtime => runtime,
    _ => device,
  };
}

/// The attempts at releases of one model.
final class Attempts {
  /// `isLeft` tells whether the app is in the background; `observers` hear of bans.
  Attempts(this._store, this._model, this._isLeft, this._observers);

  final UpdateStore _store;
  final String _model;
  final bool Function() _isLeft;
  final Set<ModelObserver?> _observers;
  bool _wasLeft = false;

  /// Whether ONNX Runtime has failed at a version since the app was started: it is not tried again before the next start.
  Future<bool> hasFailed(String version) async {
    final failing = (await _store.record()).of(_model).attempts[AttemptKind.failing];
    return failing?.version == version && failing?.start == thisStart;
  }

  /// How often a process has ended at a version.
  Future<int> ended(AttemptKind kind, String version) async =>
      Attempt.ended((await _store.record()).of(_model).attempts[kind], version, thisStart);

  /// Does `work`, an attempt that is written down: it counts if the process ends meanwhile, unless the app was left.
  ///
  /// When that has succeeded, the attempt stays in the record until that is changed.
  Future<T> during<T>(AttemptKind kind, String version, Future<T> Function() work) async {
    final before = (await _store.record()).of(_model).attempts[kind];
    final counted = Attempt.next(before, version, thisStart);
    var isCounted = !_isLeft();
    _wasLeft = !isCounted;
    Future<void> write() => _store.changeModel(_model, (each) {
      each.attempts.remove(kind);
      if (isCounted ? counted : before case final attempt?) each.attempts[kind] = attempt;
    });
    await write();
    var last = Future<void>.value();
    final watching = Timer.periodic(_watch, (_) {
      if (_isLeft() != isCounted) return;
      isCounted = !isCounted;
      _wasLeft = true;
      last = last.then((_) => write()).onError<FileSystemException>((failure, _) {
        warn('whether the app is in the foreground cannot be recorded: ${wordsOf(failure)}');
      });
    });
    try {
      return await work();
    } on Object {
      watching.cancel();
      await last;
      isCounted = false;
      await write();
      rethrow;
    } finally {
      watching.cancel();
      await last;
    }
  }

  /// Counts a failure of ONNX Runtime, once in each start of the app, and not where the app was left; false where that was
  /// one too many.
  Future<bool> mayFail(String version) async {
    if (_wasLeft || _isLeft()) return true;
    final before = (await _store.record()).of(_model).attempts[AttemptKind.failing];
    final failing = Attempt.next(before, version, thisStart);
    if (failing.count >= mostFailing) return false;
    await _store.changeModel(_model, (each) => each.attempts[AttemptKind.failing] = failing);
    return true;
  }

  /// Excludes a version for some time: the part of a reason that is kept.
  Future<String> ban(String version, String words) async {
    final reason = words.length > _mostWords ? words.substring(0, _mostWords) : words;
    await _store.change((record) => record.of(_model).ban(version, reason, record.now));
    for (final each in _observers) {
      tell(() => each?.onBan?.call(BanEvent(_model, version, reason)));
    }
    return reason;
  }
}
