// What a model carries from one call to the next.

import 'dart:async';

import 'tensor.dart';

/// Runs a model in turn, each time with the state that the call before it left.
final class Carried {
  /// `first` makes the state of a first call.
  Carried(this._first);

  final List<TensorInput<Object>> Function() _first;
  late _Turns _turns = _Turns(_first());

  /// Runs a model after the calls that are under way. One that fails leaves the state as it was.
  Future<Outputs> run<Outputs>(
    Future<Outputs> Function(List<TensorInput<Object>> state) run,
    List<TensorInput<Object>> Function(Outputs outputs) next,
  ) async {
    final turns = _turns;
    final before = turns.last;
    final done = Completer<void>();
    turns.last = done.future;
    try {
      await before;
      final outputs = await run(turns.state);
      turns.state = next(outputs);
      return outputs;
    } finally {
      done.complete();
    }
  }

  /// Resets the state: the next call is a first one.
  void reset() => _turns = _Turns(_first());
}

/// Calls that follow each other.
final class _Turns {
  _Turns(this.state);

  List<TensorInput<Object>> state;
  Future<void> last = Future.value();
}
