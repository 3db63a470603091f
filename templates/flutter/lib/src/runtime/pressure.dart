// Models that are released when memory is short.

/// Something that gives memory back for a while.
abstract interface class Releasable {
  /// Gives back what nobody uses at the moment.
  void release();
}

final List<WeakReference<Releasable>> _known = [];

/// Lets `releaseUnusedModels` reach something, as long as it is not collected.
void releaseLater(Releasable releasable) {
  _known
    ..removeWhere((each) => each.target == null)
    ..add(WeakReference(releasable));
}

/// Lets nobody release it any more.
void forgetReleasable(Releasable releasable) =>
    _known.removeWhere((each) => each.target == null || identical(each.target, releasable));

/// Releases all models of this isolate that nothing runs at the moment; their next runs open them again. For apps that are
/// told that memory is short, as by `didHaveMemoryPressure` of Flutter's `WidgetsBindingObserver`.
void releaseUnusedModels() {
  for (final each in [..._known]) {
    each.target?.release();
  }
}
