/// Newer models: the package has no channel, so there are none.
library;

import 'package:vision_models/vision_models.dart';

/// Nothing newer than the package's own model.
class Channel {
  /// `options` are those of each load.
  Channel(LoadOptions options);

  /// Whether there is something to ask.
  bool get isThere => false;

  /// For `load`.
  ModelSource get source => const ModelSource.bundled();

  /// Looks for a newer model, and says in words what came of it.
  Future<String> update() async => '';
}
