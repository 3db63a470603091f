// What generated code says of the channel that delivers a package's models.

import 'dart:math';

import '../descriptor.dart';
import '../trust.dart';

/// A model of the package, and the API that its code has.
final class PackagedModel {
  /// Releases of another `contract` are for other code.
  const PackagedModel(this.descriptor, this.contract);

  /// The app's own model.
  final ModelDescriptor descriptor;

  /// SHA-256 of the API, in hexadecimal.
  final String contract;
}

/// A channel of a package, as the package was built for it.
final class Delivery {
  /// Takes generated facts.
  const Delivery({
    required this.channel,
    required this.root,
    required this.version,
    required this.trust,
    required this.runtimes,
    required this.models,
  });

  /// Its name.
  final String channel;

  /// Metadata of TUF that says whose releases are believed, until newer one follows from it.
  final String root;

  /// Version of the package.
  final String version;

  /// Name of the package, number of its release, and keys for lists of its files.
  final Trust trust;

  /// The ONNX Runtime that files were proved with, by the name of the target that they were made for.
  final Map<String, String> runtimes;

  /// Every model of the package.
  final List<PackagedModel> models;

  /// Facts that all metadata of the channel states.
  Map<String, String> get facts => {'package': trust.package, 'channel': channel};

  /// A model by its name.
  PackagedModel of(String name) => models.firstWhere((each) => each.descriptor.name == name);
}

const int _most = (1 << 20) - 1;

/// The place of a version in the order of releases: 13 bits for the first number, 20 for each of the others. A
/// pre-release has that of its release.
int releaseNumber(String version) {
  final parts = version.split('+').first.split('-').first.split('.');
  int part(int index) {
    final text = index < parts.length ? parts[index] : '0';
    return RegExp(r'^[0-9]+$').hasMatch(text) ? int.tryParse(text) ?? _most : 0;
  }

  return (min(part(0), (1 << 13) - 1) << 40) | (min(part(1), _most) << 20) | min(part(2), _most);
}
