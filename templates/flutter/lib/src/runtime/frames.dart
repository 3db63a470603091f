// Runs a model on the latest of what comes.

import 'dart:async';

import 'cancellation.dart';

/// Results of `run` for the latest event of `source`, in turn: of events that come while the model is busy, or
/// while the listener is paused, all but the last are dropped. Ends with its source. Who stops listening ends the source,
/// and the run that is under way.
Stream<Result> latestOf<Frame, Result>(
  Stream<Frame> source,
  Future<Result> Function(Frame frame, Cancellation cancellation) run,
) => _Latest(source, run)._results.stream;

/// Runs of one stream.
final class _Latest<Frame, Result> {
  _Latest(this._source, this._run) {
    _results
      ..onListen = _begin
      ..onResume = _go
      ..onCancel = _leave;
  }

  final Stream<Frame> _source;
  final Future<Result> Function(Frame frame, Cancellation cancellation) _run;

  /// Results reach a listener at once, so that `await for` pauses before the next run begins.
  final StreamController<Result> _results = StreamController(sync: true);
  final Cancellation _cancellation = Cancellation();
  StreamSubscription<Frame>? _frames;
  (Frame,)? _latest;
  bool _isBusy = false;
  bool _isDone = false;

  void _begin() => _frames = _source.listen(
    (frame) {
      _latest = (frame,);
      _go();
    },
    onError: _results.addError,
    onDone: () {
      _isDone = true;
      _go();
    },
  );

  void _go() {
    if (!_isBusy) unawaited(_work());
  }

  Future<void>? _leave() {
    _cancellation.cancel();
    _latest = null;
    return _frames?.cancel();
  }

  Future<void> _work() async {
    _isBusy = true;
    while (_latest != null && !_results.isPaused) {
      final (frame,) = _latest!;
      _latest = null;
      try {
        final result = await _run(frame, _cancellation);
        if (!_cancellation.isCancelled) _results.add(result);
      } on Object catch (error, trace) {
        if (!_cancellation.isCancelled) _results.addError(error, trace);
      }
    }
    _isBusy = false;
    if (_isDone && _latest == null) unawaited(_results.close());
  }
}
