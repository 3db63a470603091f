// A text that a model makes, part by part.

import 'dart:async';

import 'cancellation.dart';
import 'tensor.dart';

/// Part that one run adds to a text.
final class TextPart {
  /// Made by generated files.
  const TextPart(this.text, this.state, {required this.isLast});

  /// Often none.
  final String text;

  /// State that the next run starts with.
  final List<TensorInput<Object>> state;

  /// Whether there is none.
  final bool isLast;
}

/// The text that `run` makes from the state `first` on, a run at a time, while somebody listens and is not paused.
///
/// The first run gets what the app passed. Who stops listening ends the run that is under way; so does `cancellation`, and
/// the stream then ends with what that run throws.
Stream<String> generated(
  List<TensorInput<Object>> Function() first,
  Cancellation? cancellation,
  Future<TextPart> Function(List<TensorInput<Object>> state, bool isFirst, Cancellation cancellation) run,
) => _Generation(first, cancellation, run)._parts.stream;

/// The text of code points.
String textOf(Tensor<List<int>> points) => String.fromCharCodes(points.data);

/// A seed, as models take it.
TensorInput<List<int>> seedTensor(int seed) => TensorInput([seed]);

/// A text that is being made.
final class _Generation {
  _Generation(this._first, this._given, this._run) {
    _parts
      ..onListen = _begin
      ..onResume = _go
      ..onCancel = _leave;
  }

  final List<TensorInput<Object>> Function() _first;
  final Cancellation? _given;
  final Future<TextPart> Function(List<TensorInput<Object>> state, bool isFirst, Cancellation cancellation) _run;

  /// Parts reach a listener at once, so that `await for` pauses before the next run begins.
  final StreamController<String> _parts = StreamController(sync: true);
  final Cancellation _own = Cancellation();
  void Function()? _forget;

  /// State that the next run starts with; null after the last one, and after one that failed.
  List<TensorInput<Object>>? _state;
  bool _isFirst = true;
  bool _isLeft = false;

  /// The runs that are under way; null while there are none.
  Future<void>? _runs;

  void _begin() {
    _state = _first();
    if (_given?.isCancelled ?? false) _own.cancel();
    _forget = _given?.listen(_own.cancel);
    _go();
  }

  void _go() => _runs ??= _work().whenComplete(() {
    _runs = null;
    // Resumed while the last run was ending.
    if (_state != null && !_isLeft && !_parts.isPaused) _go();
  });

  Future<void> _leave() async {
    _isLeft = true;
    _own.cancel();
    _end();
    await _runs;
  }

  Future<void> _work() async {
    while (!_isLeft && !_parts.isPaused) {
      final state = _state;
      if (state == null) return;
      _state = null;
      try {
        final part = await _run(state, _isFirst, _own);
        if (_isLeft || part.isLast) _release(part.state);
        if (_isLeft) return;
        _isFirst = false;
        _state = part.isLast ? null : part.state;
        if (part.text.isNotEmpty) _parts.add(part.text);
      } on Object catch (error, trace) {
        if (_isLeft) return;
        _parts.addError(error, trace);
      } finally {
        _release(state);
      }
      if (_state == null && !_isLeft) _close();
    }
  }

  void _release(List<TensorInput<Object>> state) {
    for (final each in state) {
      if (each is HeldTensor) each.release();
    }
  }

  void _close() {
    _end();
    unawaited(_parts.close());
  }

  /// Keeps nothing of the text.
  void _end() {
    _release(_state ?? const []);
    _state = null;
    _forget?.call();
    _forget = null;
  }
}
