// A sound that comes piece by piece, and the results for its hops.

import 'dart:async';
import 'dart:math';
import 'dart:typed_data';

import 'cancellation.dart';
import 'errors.dart';
import 'sound.dart';

/// Treatment of a push to a stream that has no room.
enum StreamOverflow {
  /// It fails.
  refuse,

  /// The sound that waits longest is dropped.
  dropOldest,
}

/// The result for a part of a stream. Numbers are frames since the stream began, at the rate of the sound.
final class Heard<Result> {
  const Heard._(this.result, this.start, this.end, this.dropped);

  /// The answer of the model.
  final Result result;

  /// First frame.
  final int start;

  /// Frame after the last one.
  final int end;

  /// How many frames before [start] have no result, because the queue was full. A new sound begins after them.
  final int dropped;

  @override
  String toString() => '$start-$end $result';
}

/// Samples of a run at the model's rate.
final class StreamForm {
  /// Made by generated files.
  const StreamForm({required this.rate, required this.hop, required this.length});

  /// Samples per second.
  final int rate;

  /// Samples from one run to the next.
  final int hop;

  /// Samples of the hop, and those before it.
  final int length;
}

/// Runs a model with the state that the run before left.
typedef StreamStep<Result> = Future<Result> Function(Sound piece, Cancellation cancellation);

/// A sound that an app pushes piece by piece. The results depend on the sound alone, however it is cut.
///
/// The model runs while somebody listens to the results: what has no result yet waits in a queue.
final class SoundStream<Result> {
  /// Made by generated files.
  SoundStream.of(this._form, this._queueMs, this._overflow, this._begin) {
    if (_queueMs < 1) throw ModelException(ModelErrorCode.badOptions, 'queueMs is $_queueMs, the least is 1');
    _startAt(0);
  }

  final StreamForm _form;
  final int _queueMs;
  final StreamOverflow _overflow;

  /// Makes the runs of a new sound.
  final StreamStep<Result> Function() _begin;
  late StreamStep<Result> _step = _begin();
  _Pace? _pace;
  Float32List _samples = Float32List(0);

  /// Frames of the sound: the first and the last one that are kept, and the first one of the next hop.
  int _kept = 0, _end = 0, _start = 0;

  /// Time from that frame to the hop, in parts of a frame.
  int _rest = 0;

  /// Samples of the model before the sound that the next run takes.
  int _ahead = 0;
  int _dropped = 0;
  bool _isFlushed = false;
  bool _isClosed = false;
  bool _isRead = false;
  Completer<void> _wake = Completer();

  /// The results that nobody has read, in order, for one listener at a time. They end after [flush] and after [close].
  /// Who stops listening ends the run that is under way.
  Stream<Heard<Result>> get results {
    final cancellation = Cancellation();
    final results = StreamController<Heard<Result>>(sync: true);
    Future<void>? reading;
    results
      ..onListen = (() => reading = _read(results, cancellation))
      ..onResume = _goOn
      ..onCancel = () {
        cancellation.cancel();
        _goOn();
        return reading;
      };
    return results.stream;
  }

  /// Adds what follows.
  ///
  /// Throws a ModelException `badInput` for samples that are no numbers, another rate or number of channels than before,
  /// and after [flush]; `busy` where the queue has no room; `disposed` after [close].
  void push(Sound sound) {
    if (_isClosed) throw const ModelException(ModelErrorCode.disposed, 'the stream is closed');
    if (_isFlushed) throw _refused('the stream was flushed: `reset` starts a new sound');
    final given = soundTensors('stream', sound).samples;
    final samples = given.data;
    final wrong = samples.indexWhere((sample) => !sample.isFinite);
    if (wrong >= 0) throw _refused('sample $wrong is ${samples[wrong]}, which is no finite number');
    final frames = samples.length ~/ sound.channels;
    final pace = _paceOf(sound.rate, sound.channels);
    final excess = _end + frames - _start - pace.limit;
    if (excess > 0 && _overflow == StreamOverflow.refuse) {
      throw ModelException(ModelErrorCode.busy, 'no room for $frames frames: the queue of $_queueMs ms is full');
    }
    _pace = pace;
    _append(pace, samples);
    _end += frames;
    if (excess > 0) _drop(excess, pace.channels);
    _goOn();
  }

  /// Ends the sound: the rest gets its results.
  void flush() {
    _isFlushed = true;
    _goOn();
  }

  /// Starts a new sound: forgets what was pushed.
  void reset() {
    _pace = null;
    _samples = Float32List(0);
    _kept = _end = _dropped = 0;
    _isFlushed = false;
    _step = _begin();
    _startAt(0);
    _goOn();
  }

  /// Ends the results. The model stays open.
  void close() {
    reset();
    _isClosed = true;
  }

  void _goOn() {
    _wake.complete();
    _wake = Completer();
  }

  Future<void> _read(StreamController<Heard<Result>> results, Cancellation cancellation) async {
    if (_isRead) {
      results.addError(const ModelException(ModelErrorCode.busy, 'another listener reads the results of the stream'));
      unawaited(results.close());
      return;
    }
    _isRead = true;
    while (!_isClosed && !cancellation.isCancelled) {
      final step = _step;
      final taken = results.isPaused ? null : _take();
      if (taken == null && _isFlushed && !results.isPaused) break;
      if (taken == null) {
        await _wake.future;
        continue;
      }
      try {
        final result = await step(taken.piece, cancellation);
        // Unless another sound began meanwhile.
        if (identical(step, _step)) results.add(_heard(result, taken));
      } on Object catch (error, trace) {
        if (!identical(step, _step) || cancellation.isCancelled) continue;
        results.addError(error, trace);
        break;
      }
    }
    _isRead = false;
    unawaited(results.close());
  }

  /// The next run, if its sound has come; null otherwise.
  _Taken? _take() {
    final pace = _pace;
    if (pace == null) return null;
    final _Pace(:source, :target, :width, :channels) = pace;
    final (first, late) = _window(pace);
    if (first + width > _end && !(_isFlushed && _start < _end)) return null;
    final samples = Float32List(width * channels);
    final from = max(first, _kept), to = max(min(first + width, _end), from);
    samples.setRange((from - first) * channels, (to - first) * channels, _samples, (from - _kept) * channels);
    final left = _up((_end - _start) * target - _rest, source);
    final place = [late, _ahead, max(_form.hop - left, 0)];
    final after = _rest + _form.hop * source;
    return _Taken(
      soundPiece(samples, rate: pace.rate, channels: channels, place: place),
      _start + after ~/ target,
      after % target,
    );
  }

  /// The first frame of the next run, and the time from it to the first sample of the model.
  (int, int) _window(_Pace pace) {
    final _Pace(:source, :target, :reach) = pace;
    final time = _rest - (_form.length - _form.hop) * source;
    final before = (time - time % target) ~/ target - reach;
    return (_start + before, time - before * target);
  }

  /// Goes on to the next hop.
  Heard<Result> _heard(Result result, _Taken taken) {
    final heard = Heard<Result>._(result, _start, min(taken.next, _end), _dropped);
    _ahead = max(_ahead - _form.hop, 0);
    _start = taken.next;
    _rest = taken.rest;
    _dropped = 0;
    return heard;
  }

  /// Leaves out the frames that wait longest: what follows is a new sound.
  void _drop(int frames, int channels) {
    _dropped += frames;
    _step = _begin();
    _startAt(_start + frames);
    _samples = _samples.sublist((_start - _kept) * channels);
    _kept = _start;
  }

  void _startAt(int start) {
    _start = start;
    _rest = 0;
    _ahead = _form.length - _form.hop;
  }

  /// Adds samples behind those that a later run takes.
  void _append(_Pace pace, Float32List added) {
    final first = min(max(_window(pace).$1, _kept), _end);
    final used = (_end - _kept) * pace.channels;
    final old = (first - _kept) * pace.channels;
    if (used + added.length > _samples.length) {
      final samples = Float32List(2 * (used - old + added.length));
      samples.setRange(0, used - old, _samples, old);
      _samples = samples;
      _kept = first;
    }
    final place = (_end - _kept) * pace.channels;
    _samples.setRange(place, place + added.length, added);
  }

  _Pace _paceOf(int rate, int channels) {
    final known = _pace;
    if (known != null && rate == known.rate && channels == known.channels) return known;
    if (known != null) {
      final before = '${known.rate} frames per second and ${known.channels} channels';
      throw _refused('the sound has $rate frames per second and $channels channels, and the stream began with $before');
    }
    final common = rate.gcd(_form.rate);
    final source = rate ~/ common, target = _form.rate ~/ common;
    final reach = source == target ? 0 : _up(600 * source, 99 * min(source, target));
    final width = _up((_form.length - 1) * source, target) + 2 * reach + 1;
    final limit = _queueMs * rate ~/ 1000;
    if (limit < width) {
      final needed = _up(1000 * width, rate);
      throw ModelException(ModelErrorCode.badOptions, 'queueMs is $_queueMs, and a run takes $needed ms of sound');
    }
    return _Pace(rate, channels, source, target, reach, width, limit);
  }
}

/// Rates in lowest terms, and frames of the sound that a run takes.
final class _Pace {
  _Pace(this.rate, this.channels, this.source, this.target, this.reach, this.width, this.limit);

  final int rate, channels, source, target;

  /// Frames on either side that contribute to a sample.
  final int reach;
  final int width;

  /// Frames that may wait.
  final int limit;
}

/// A run's part of the sound, and where the next hop begins.
final class _Taken {
  _Taken(this.piece, this.next, this.rest);

  final Sound piece;
  final int next, rest;
}

/// A quotient of positive numbers, rounded up.
int _up(int number, int by) => (number + by - 1) ~/ by;

ModelException _refused(String words) => ModelException(ModelErrorCode.badInput, words);
