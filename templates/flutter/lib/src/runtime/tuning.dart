// Settings that were measured on chips. Only packages with such settings have this file.

import 'descriptor.dart';
import 'options.dart';

/// Measured to be the fastest for a model on a chip.
final class Tuned {
  /// Takes generated settings.
  const Tuned({required this.providers, required this.threads, required this.options});

  /// Tried in this order; empty where that of the package holds.
  final List<Provider> providers;

  /// Threads of a run; 0 for the usual number.
  final int threads;

  /// Settings of providers.
  final Map<Provider, Map<String, String>> options;
}

/// Settings of one model.
final class Tuning implements ModelTuning {
  /// By platform, `android` or `ios`, then by the chip's name.
  const Tuning(this._measured);

  final Map<String, Map<String, Tuned>> _measured;

  @override
  LoadOptions applied(LoadOptions options, {required String chip, required String? platform}) {
    final known = platform == null ? _measured.values : [?_measured[platform]];
    final tuned = options.tuned ? known.map((each) => each[chip]).nonNulls.firstOrNull : null;
    if (tuned == null) return options;
    final own = options.providerOptions;
    return options.withSettings(
      providers: options.providers ?? (tuned.providers.isEmpty ? null : tuned.providers),
      threads: options.threads == 0 ? tuned.threads : options.threads,
      providerOptions: {
        for (final each in {...tuned.options.keys, ...own.keys}) each: {...?tuned.options[each], ...?own[each]},
      },
    );
  }
}
