// Documents of channels: all that a device needs to know to update its models.

import 'dart:convert';
import 'dart:math';
import 'dart:typed_data';

import '../descriptor.dart';
import '../digest.dart';
import '../envelope.dart';
import 'fields.dart';
import 'packaged.dart';

const String _payloadType = 'application/vnd.mobpack.channel+json';
const int _schema = 1;

/// Why a document of a channel is refused.
final class DocumentException implements Exception {
  /// With the reason.
  const DocumentException(this.message);

  /// For people.
  final String message;
}

/// A document, as whoever publishes the channel has signed it.
final class ChannelDocument {
  ChannelDocument._(this.sha256, this.number, this.published, this._expires, this.models);

  /// Verifies a document, and reads it.
  ///
  /// Throws DocumentException for one that no trusted key has signed, or of another package or channel.
  factory ChannelDocument.of(Uint8List bundle, Delivery delivery) {
    try {
      final payload = payloadOf(utf8.decode(bundle), _payloadType, delivery.trust.keys);
      return _read(Fields(jsonDecode(utf8.decode(payload))), hexOf(sha256Of(payload)), delivery);
    } on EnvelopeException catch (untrusted) {
      throw DocumentException('the document of the channel is not to be trusted: ${untrusted.message}');
    } on FormatException catch (damaged) {
      throw DocumentException('the document of the channel is damaged: ${damaged.message}');
    }
  }

  static ChannelDocument _read(Fields found, String sha256, Delivery delivery) {
    final schema = found.number('schema-version');
    if (schema != _schema) throw DocumentException('the document has schema $schema, this code reads $_schema');
    for (final (name, wanted) in [('package', delivery.trust.package), ('channel', delivery.channel)]) {
      final said = found.text(name);
      if (said != wanted) throw DocumentException('the document is for the $name $said, not for $wanted');
    }
    final entries = found.list('models');
    final models = {
      for (final each in entries) each.text('name'): [for (final it in each.list('releases')) ChannelRelease.of(it)],
    };
    if (models.length != entries.length) throw const DocumentException('a model is there twice');
    final published = _timeOf(found.text('published')).millisecondsSinceEpoch;
    return ChannelDocument._(sha256, found.number('number'), published, _timeOf(found.text('expires')), models);
  }

  /// SHA-256 of the signed text.
  final String sha256;

  /// Each document has a larger one.
  final int number;

  /// Milliseconds since 1970, as whoever has signed it had them.
  final int published;

  final DateTime _expires;

  /// Releases by the name of the model, the newest first.
  final Map<String, List<ChannelRelease>> models;

  /// Whether it is too old by the device's clock.
  bool get isExpired => isExpiredAfter(0);

  /// Whether it is too old where a document has shown the time `latest`: a clock that is behind it is wrong.
  bool isExpiredAfter(int latest) =>
      _expires.millisecondsSinceEpoch <= max(DateTime.now().millisecondsSinceEpoch, latest);
}

/// `2026-01-31T23:59:59Z`
DateTime _timeOf(String text) {
  final time = RegExp(r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$').hasMatch(text) ? DateTime.tryParse(text) : null;
  // A day that no month has would be one of the next month.
  if (time == null || !time.toIso8601String().startsWith(text.substring(0, 19))) {
    throw FormatException('$text is no time');
  }
  return time;
}

/// A version of a model, and who gets it.
final class ChannelRelease {
  ChannelRelease._(Fields found, Fields rollout, Fields conditions)
    : version = found.name('version'),
      number = found.number('number'),
      contract = found.sha256('contract'),
      _minApp = found.text('min-app'),
      _percent = rollout.number('percent'),
      _salt = rollout.text('salt'),
      needsWifi = conditions.flag('wifi'),
      needsCharging = conditions.flag('charging'),
      freeBytes = conditions.number('free-bytes'),
      files = [for (final each in found.list('files')) ChannelFile.of(each)];

  /// Throws FormatException.
  factory ChannelRelease.of(Fields found) =>
      ChannelRelease._(found, found.member('rollout'), found.member('conditions'));

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
}
