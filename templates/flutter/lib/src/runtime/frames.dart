// Runs a model on the latest of what comes.

import 'dart:async';

import 'cancellation.dart';

/// What `run` gives for the latest event of `source`, one after the other: of events that come while the model is busy
/// all but the last are dropped. Ends with its source. Who stops listening ends the source, and the run that is under way.
Stream<Result> latestOf<Frame, Result>(
  Stream<Frame> source,
  Future<Result> Function(Frame frame, Cancellation cancellation) run,
) {
  final results = StreamController<Result>();
  final cancellation = Cancellation();
  StreamSubscription<Frame>? frames;
  (Frame,)? latest;
  var isBusy = false;
  var isDone = false;

  Future<void> work() async {
    isBusy = true;
    while (latest != null && !cancellation.isCancelled) {
      final (frame,) = latest!;
      latest = null;
      try {
        final result = await run(frame, cancellation);
        if (!cancellation.isCancelled) results.add(result);
      } on Object catch (error, trace) {
        if (!cancellation.isCancelled) results.addError(error, trace);
      }
    }
    isBusy = false;
    if (isDone) unawaited(results.close());
  }

  results
    ..onListen = () {
      frames = source.listen(
        (frame) {
          latest = (frame,);
          if (!isBusy) unawaited(work());
        },
        onError: results.addError,
        onDone: () {
          isDone = true;
          if (!isBusy) unawaited(results.close());
        },
      );
    }
    ..onCancel = () {
      cancellation.cancel();
      return frames?.cancel();
    };
  return results.stream;
}
