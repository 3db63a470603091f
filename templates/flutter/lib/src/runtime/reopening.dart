// A session that may be closed between runs, and is opened again by the next one.

import 'errors.dart';
import 'options.dart';

/// A session, as policies see it.
abstract interface class Served {
  /// The provider that runs it.
  Provider get provider;

  /// The providers that did not start.
  List<Fallback> get fallbacks;

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
  Future<Result> use<Result>(Future<Result> Function(Session session) work) async {
    _users++;
    try {
      return await work(_session ?? await (_opening ??= _open()));
    } finally {
      _users--;
    }
  }

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
        throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of while it was opened again');
      }
      return _session = session;
    } finally {
      _opening = null;
    }
  }
}
