// How many threads a model has on a hot device.

/// How hot a device is. What is between hot and cool changes nothing.
enum Warmth {
  /// The system slows nothing down.
  cool,

  /// Neither cool nor hot.
  warm,

  /// The system slows the device down.
  hot,
}

/// A change holds for so long: opening a session takes time, and makes heat.
const Duration _usualDwell = Duration(minutes: 1);

/// The threads of a model's sessions.
final class Heat {
  /// `usual` is how many there are on a cool device; `warmth` tells how hot it is. A change holds for `dwell` at least.
  Heat(int usual, this._warmth, {Duration dwell = _usualDwell}) : _half = usual ~/ 2, _dwell = dwell;

  final int _half;
  final Warmth Function() _warmth;
  final Duration _dwell;
  final Stopwatch _sinceChange = Stopwatch();

  /// Threads of the session that is open: 0 for the usual number.
  int threads = 0;

  int get _wanted => switch (_warmth()) {
    Warmth.hot => _half,
    Warmth.warm => threads,
    Warmth.cool => 0,
  };

  /// Whether the device has become hot or cool since the session was opened, and the last change is long enough ago.
  bool get isChanged => !(_sinceChange.isRunning && _sinceChange.elapsed < _dwell) && _wanted != threads;

  /// Decides what the next session gets.
  void follow() {
    threads = _wanted;
    _sinceChange
      ..reset()
      ..start();
  }
}
