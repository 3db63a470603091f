/// Where the app's model comes from.
library;

import 'package:vision_models/vision_models.dart';

import 'channel.dart';

/// The model of the package, or the newest that a channel has brought.
class Models {
  /// With the options that each load has.
  Models({this.options = const LoadOptions()});

  /// Where files come from, and what runs them.
  final LoadOptions options;

  /// Where newer models come from.
  late final Channel channel = Channel(options);

  /// Loads it. Throws a [ModelException].
  Future<Classifier> load() => Classifier.load(channel.isThere ? options.withSource(channel.source) : options);
}
