// Releases of a model in a channel: what a device needs to know to choose one.

import 'dart:convert';
import 'dart:typed_data';

import '../descriptor.dart';
import '../digest.dart';
import 'fields.dart';
import 'packaged.dart';
import 'tuf_metadata.dart';

const int _schema = 1;

/// The releases in the file of a model that metadata of the channel names, the newest first.
///
/// Throws ChannelException for what is no such file, or that of another model.
List<ChannelRelease> releasesIn(Uint8List bytes, String model, Delivery delivery) {
  try {
    final found = Fields(jsonDecode(utf8.decode(bytes)));
    final schema = found.number('schema-version');
    if (schema != _schema) throw ChannelException('the releases have schema $schema, this code reads $_schema');
    found.require({...delivery.facts, 'model': model});
    return [for (final each in found.list('releases')) ChannelRelease.of(each)];
  } on FormatException catch (damaged) {
    throw ChannelException('the releases of $model are refused: ${damaged.message}');
  }
}

/// A version of a model, and who gets it.
final class ChannelRelease {
  /// Throws FormatException.
  ChannelRelease.of(Fields found)
    : version = found.name('version'),
      number = found.number('number'),
      contract = found.sha256('contract'),
      _minApp = found.text('min-app'),
      _percent = found.member('rollout').number('percent'),
      _salt = found.member('rollout').text('salt'),
      needsWifi = found.member('conditions').flag('wifi'),
      needsCharging = found.member('conditions').flag('charging'),
      freeBytes = found.member('conditions').number('free-bytes'),
      files = [for (final each in found.list('files')) ChannelFile.of(each)];

  /// Its name.
  final String version;

  /// Grows with the version.
  final int number;

  /// SHA-256 of the API that it is for.
  final String contract;

  final String _minApp;
  final int _percent;
  final String _salt;

  /// Whether it waits for a network that is not metered.
  final bool needsWifi;

  /// Whether it waits for the charger.
  final bool needsCharging;

  /// Storage that must be free.
  final int freeBytes;

  /// For all targets and providers.
  final List<ChannelFile> files;

  /// Whether the code of an app, by the number of its release, is new enough.
  bool isForApp(int number) => _minApp.isEmpty || releaseNumber(_minApp) <= number;

  /// Whether a device is among the first that get it.
  bool isRolledOutTo(String device) {
    final start = ByteData.sublistView(sha256Of(utf8.encode('$_salt$device'))).getUint32(0);
    return start * 100 >> 32 < _percent;
  }
}

/// The files that a provider opens.
final class ChannelFile {
  /// Throws FormatException.
  ChannelFile.of(Fields found)
    : target = found.text('target'),
      inside = found.text('inside'),
      provider = found.text('provider'),
      chips = found.texts('chips'),
      runtime = found.text('runtime'),
      runtimeRange = found.text('runtime-range'),
      settings = {for (final each in found.list('settings')) each.text('key'): each.text('value')},
      file = Blob.of(found.member('file')),
      data = [for (final each in found.list('data')) Blob.of(each)],
      golden = [for (final each in found.list('golden')) Blob.of(each)].firstOrNull,
      allowed = [
        for (final each in found.list('allowed'))
          Tolerance(
            each.text('output'),
            rtol: each.decimal('rtol'),
            atol: each.decimal('atol'),
            scale: each.decimal('scale'),
            mismatches: each.number('mismatches'),
          ),
      ];

  /// Target of the build.
  final String target;

  /// The wrapper that it was built for; empty without one.
  final String inside;

  /// Its name.
  final String provider;

  /// Empty for a file that is for all of them.
  final List<String> chips;

  /// Version of ONNX Runtime that the file was proved to load in.
  final String runtime;

  /// The oldest minor version that it was proved to load in; empty for no other than [runtime].
  final String runtimeRange;

  /// Session configuration entries.
  final Map<String, String> settings;

  /// The file.
  final Blob file;

  /// By the names that the file has for them.
  final List<Blob> data;

  /// Samples for the self-test.
  final Blob? golden;

  /// How far outputs may be off.
  final List<Tolerance> allowed;

  /// Every file of it.
  List<Blob> get all => [file, ...data, ?golden];
}

/// A file in the store of a channel: its name there is made of its SHA-256.
final class Blob {
  const Blob._(this.name, this.sha256, this.sizeBytes, this.deltas);

  /// Throws FormatException.
  Blob.of(Fields found)
    : this._(found.name('name'), found.sha256('sha256'), found.number('size-bytes'), [
        for (final each in found.list('deltas'))
          Blob._(each.sha256('source'), each.sha256('sha256'), each.number('size-bytes'), const []),
      ]);

  /// Name of the file; of a delta, the SHA-256 of the file that it is for.
  final String name;

  /// In hexadecimal.
  final String sha256;

  /// Size of the file.
  final int sizeBytes;

  /// Ways to make it of other files.
  final List<Blob> deltas;

  /// The file as a model has it.
  PackagedFile get packaged => PackagedFile(name, sha256, sizeBytes);
}
