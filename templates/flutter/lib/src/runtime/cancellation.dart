// Ends calls from outside.

/// Ends the calls that it was given to.
final class Cancellation {
  final List<void Function()> _listeners = [];
  bool _isCancelled = false;

  /// Whether [cancel] was called.
  bool get isCancelled => _isCancelled;

  /// Ends the calls that are under way, at their next operator, and those that come later at once: they fail with a
  /// ModelException `cancelled`.
  void cancel() {
    if (_isCancelled) return;
    _isCancelled = true;
    for (final each in [..._listeners]) {
      each();
    }
  }

  /// Lets [cancel] call `listener`, until the function that this returns is called.
  void Function() listen(void Function() listener) {
    _listeners.add(listener);
    return () => _listeners.remove(listener);
  }
}
