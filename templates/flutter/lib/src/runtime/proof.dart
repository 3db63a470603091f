// How providers are proved on a device, and what that has found out.

import 'providers.dart';

/// How providers are proved on the device before they run a model: an option of `load`.
final class Proof {
  /// Omitted settings have their usual values.
  const Proof({this.limit = const Duration(seconds: 3), this.inBackground = false});

  /// For all providers and the CPU together. What is not examined then is left out, and its turn is at the next load.
  final Duration limit;

  /// Whether a load opens at once what is proved so far, or the CPU. The proof goes on behind it, and holds from the next
  /// load.
  final bool inBackground;
}

/// The verdict of a [Proof] on a provider.
final class ProviderProof {
  /// Made by this package.
  const ProviderProof(this.provider, {required this.isProved, required this.reason, this.seconds, this.cpuSeconds});

  /// The provider that was examined.
  final Provider provider;

  /// Whether it computes on this device what it should, and is no slower than the CPU.
  final bool isProved;

  /// Why it is left out; empty where it is proved.
  final String reason;

  /// Its fastest run of the first sample; null where it was not measured.
  final double? seconds;

  /// The CPU's.
  final double? cpuSeconds;

  @override
  String toString() => '${provider.name}: ${isProved ? 'proved' : reason}';
}
