/// Newer models, from the channel at the address that `flutter run --dart-define=CHANNEL=https://...` gives.
library;

import 'package:vision_models/vision_models.dart';

const String _address = String.fromEnvironment('CHANNEL');

/// The channel of the package.
class Channel {
  /// `options` are those of each load: newer models are tried with them.
  Channel(LoadOptions options)
    : _updater = _address.isEmpty ? null : ModelUpdater(_address, options: UpdateOptions(load: options));

  final ModelUpdater? _updater;

  /// Whether there is something to ask.
  bool get isThere => _updater != null;

  /// For `load`.
  ModelSource get source => _updater?.source ?? const ModelSource.bundled();

  /// Looks for a newer model, and says in words what came of it.
  Future<String> update() async {
    final state = (await _updater?.update(force: true))?['classifier'];
    return switch (state) {
      null => '',
      UpdateState(phase: UpdatePhase.ready, :final version) => 'The next start opens model $version.',
      UpdateState(phase: UpdatePhase.upToDate, :final version) => 'Model $version is the newest.',
      UpdateState(:final phase, :final reason) => '${phase.name}: $reason',
    };
  }
}
