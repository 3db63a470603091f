// How many threads a model has on a hot device.

/// The threads of a model's sessions.
final class Heat {
  /// `usual` is how many there are on a cool device; `isHot` tells whether it is one.
  Heat(int usual, this._isHot) : _half = usual ~/ 2;

  final int _half;
  final bool Function() _isHot;

  /// Of the session that is open: 0 for the usual number.
  int threads = 0;

  int get _wanted => _half > 0 && _isHot() ? _half : 0;

  /// Whether the device has become hot or cool since the session was opened.
  bool get isChanged => _wanted != threads;

  /// Decides what the next session gets.
  void follow() => threads = _wanted;
}
