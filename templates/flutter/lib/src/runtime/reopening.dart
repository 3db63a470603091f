// A session that may be closed between runs, and is opened again by the next one.

import 'dart:async';

import 'cancellation.dart';
import 'errors.dart';
import 'options.dart';

/// Failures that another provider may not have.
const Set<ModelErrorCode> providerFaults = {ModelErrorCode.runtime, ModelErrorCode.outOfMemory};

/// A session, as policies see it.
abstract interface class Served {
  /// The provider that runs it.
  Provider get provider;

  /// The providers that did not start.
  List<Fallback> get fallbacks;

  /// Whether what hosts it has ended by itself.
  bool get isEnded;

  /// Gives its memory back, after the runs that were asked for.
  Future<void> close();
}

/// Counts who uses a session: one that is used is not released.
final class Reopening<Session extends Served> {
  /// `session` is null for one that its first run opens.
  Reopening(this._session, this._reopen);

  Session? _session;
  final Future<Session> Function() _reopen;
  Future<Session>? _opening;
  int _users = 0;
  bool _isEnded = false;

  /// The session, if it is open.
  Session? get current => _session;

  /// Does something with the session, at once where it is open. Until that has ended it is not released.
  ///
  /// Throws ModelException `cancelled` as soon as `cancellation` ends the call while the session is opened.
  Future<Result> use<Result>(Future<Result> Function(Session session) work, [Cancellation? cancellation]) async {
    _users++;
    try {
      if (_session?.isEnded ?? false) _session = null;
      return await work(_session ?? await _unlessCancelled(_opening ??= _open(), cancellation));
    } finally {
      _users--;
    }
  }

  /// Opens another session, which takes the place of the one that is open. False if that stays: another one cannot be
  /// opened.
  Future<bool> replace() async {
    final before = _session;
    try {
      await (_opening ??= _open());
    } on ModelException {
      return false;
    }
    await before?.close();
    return true;
  }

  /// Whether nothing uses the session, and it is open.
  bool get isIdle => _session != null && _users == 0 && _opening == null;

  /// Closes the session if nothing uses it. Null if it stays open, or was closed.
  Future<void>? release() {
    final session = _session;
    if (session == null || _users > 0) return null;
    _session = null;
    return session.close();
  }

  /// Closes the session for good.
  Future<void> end() async {
    _isEnded = true;
    final session = _session;
    _session = null;
    await session?.close();
  }

  Future<Session> _open() async {
    try {
      final session = await _reopen();
      if (_isEnded) {
        await session.close();
        throw _disposed;
      }
      return _session = session;
    } on ModelException {
      if (_isEnded) throw _disposed;
      rethrow;
    } finally {
      _opening = null;
    }
  }
}

const ModelException _disposed = ModelException(
  ModelErrorCode.disposed,
  'the model was disposed of while it was opened again',
);

/// Waits for a session that is being opened; a cancelled wait leaves it to others.
Future<Session> _unlessCancelled<Session>(Future<Session> opening, Cancellation? cancellation) async {
  if (cancellation == null) return opening;
  final cancelled = Completer<Session>();
  final forget = cancellation.listen(
    () => cancelled.completeError(const ModelException(ModelErrorCode.cancelled, 'the call was cancelled')),
  );
  try {
    return await Future.any([opening, cancelled.future]);
  } finally {
    forget();
  }
}
