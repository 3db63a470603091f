/// Where the app's model comes from. An app with a channel of newer models passes the updater's source here.
library;

import 'package:vision/vision.dart';

/// The model of the package.
class Models {
  /// With the options that each load has.
  const Models({this.options = const LoadOptions()});

  /// Where files come from, and what runs them.
  final LoadOptions options;

  /// Loads it. Throws a [ModelException].
  Future<Classifier> load() => Classifier.load(options);
}
