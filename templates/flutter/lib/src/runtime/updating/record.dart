// What an updater keeps from one start of the app to the next: the content of `state.json`.

import 'dart:convert';
import 'dart:math';

import 'fields.dart';

const int _schema = 1;

/// As often a version may have ended the process.
const int mostAttempts = 2;

/// The record of all models.
final class UpdateRecord {
  /// All of it.
  const UpdateRecord({
    required this.device,
    this.seen = const Seen(0, '', 0),
    this.etag = '',
    this.notBefore = 0,
    this.failures = 0,
    this.isFrozen = false,
    this.pins = const {},
    this.models = const {},
  });

  /// Of a device that has none.
  factory UpdateRecord.first({Seen seen = const Seen(0, '', 0)}) {
    final random = Random.secure();
    final device = [for (var index = 0; index < 16; index++) random.nextInt(256).toRadixString(16).padLeft(2, '0')];
    return UpdateRecord(device: device.join(), seen: seen);
  }

  /// Throws FormatException for a text that is none.
  factory UpdateRecord.of(String json) {
    final found = Fields(jsonDecode(json));
    if (found.number('schema') != _schema) throw const FormatException('it has another schema');
    final seen = found.member('seen');
    final pins = found.member('pins');
    final models = found.member('models');
    return UpdateRecord(
      device: found.text('device'),
      seen: Seen(seen.number('number'), seen.text('sha256'), seen.all.contains('latest') ? seen.number('latest') : 0),
      etag: found.text('etag'),
      notBefore: found.number('not-before'),
      failures: found.number('failures'),
      isFrozen: found.flag('frozen'),
      pins: {for (final each in pins.all) each: pins.text(each)},
      models: {for (final each in models.all) each: ModelRecord.of(models.member(each))},
    );
  }

  /// What a damaged text still says of the documents that this device has seen.
  factory UpdateRecord.rescued(String json) {
    final found = RegExp('"seen":{"number":([0-9]+),"sha256":"([0-9a-f]{64})"(?:,"latest":([0-9]+))?').firstMatch(json);
    if (found == null) return UpdateRecord.first();
    final latest = int.tryParse(found.group(3) ?? '') ?? 0;
    return UpdateRecord.first(seen: Seen(int.tryParse(found.group(1)!) ?? 0, found.group(2)!, latest));
  }

  /// Made once: it decides which rollouts this device is part of.
  final String device;

  /// The newest document that this device has seen.
  final Seen seen;

  /// Of that document.
  final String etag;

  /// Milliseconds since 1970 before which nothing is asked, after [failures].
  final int notBefore;

  /// In a row.
  final int failures;

  /// Whether nothing is asked.
  final bool isFrozen;

  /// Versions by model.
  final Map<String, String> pins;

  /// By name.
  final Map<String, ModelRecord> models;

  /// What is kept of a model.
  ModelRecord of(String model) => models[model] ?? const ModelRecord();

  /// SHA-256 of all files that the next load, or the one after a failure, may need.
  Set<String> get files => {for (final each in _releases) ...each.files};

  /// SHA-256 of all documents that are needed.
  Set<String> get documents => {seen.sha256, for (final each in _releases) each.document};

  Iterable<KeptRelease> get _releases => models.values.expand((each) => [?each.active, ?each.previous]);

  /// With other values.
  UpdateRecord copy({
    Seen? seen,
    String? etag,
    int? notBefore,
    int? failures,
    bool? isFrozen,
    Map<String, String>? pins,
    Map<String, ModelRecord>? models,
  }) => UpdateRecord(
    device: device,
    seen: seen ?? this.seen,
    etag: etag ?? this.etag,
    notBefore: notBefore ?? this.notBefore,
    failures: failures ?? this.failures,
    isFrozen: isFrozen ?? this.isFrozen,
    pins: pins ?? this.pins,
    models: models ?? this.models,
  );

  /// As text.
  String toJson() => jsonEncode({
    'schema': _schema,
    'seen': {'number': seen.number, 'sha256': seen.sha256, 'latest': seen.latest},
    'device': device,
    'etag': etag,
    'not-before': notBefore,
    'failures': failures,
    'frozen': isFrozen,
    'pins': pins,
    'models': {for (final MapEntry(:key, :value) in models.entries) key: value.toJson()},
  });
}

/// A document that was seen.
final class Seen {
  /// By its number, and the SHA-256 of what was signed.
  const Seen(this.number, this.sha256, this.latest);

  /// 0 for none.
  final int number;

  /// In hexadecimal.
  final String sha256;

  /// The largest time at which a document was published, in milliseconds since 1970: it is not earlier now.
  final int latest;
}

/// What is kept of one model.
final class ModelRecord {
  /// All of it.
  const ModelRecord({this.active, this.previous, this.trying, this.opening, this.banned = const {}});

  /// Throws FormatException.
  ModelRecord.of(Fields found)
    : active = KeptRelease.of(found.optional('active')),
      previous = KeptRelease.of(found.optional('previous')),
      trying = Attempt.of(found.optional('trying')),
      opening = Attempt.of(found.optional('opening')),
      banned = {for (final each in found.list('banned')) each.text('version'): each.text('reason')};

  /// What the next load opens; null for the app's own model.
  final KeptRelease? active;

  /// What a load opens after a failure of [active].
  final KeptRelease? previous;

  /// A trial that has not ended.
  final Attempt? trying;

  /// A load that has not ended.
  final Attempt? opening;

  /// Reasons by version.
  final Map<String, String> banned;

  /// With another attempt at a trial.
  ModelRecord withTrying(Attempt? attempt) =>
      ModelRecord(active: active, previous: previous, trying: attempt, opening: opening, banned: banned);

  /// With another attempt at a load.
  ModelRecord withOpening(Attempt? attempt) =>
      ModelRecord(active: active, previous: previous, trying: trying, opening: attempt, banned: banned);

  /// After a version was banned while it was tried.
  ModelRecord withBan(String version, String reason) =>
      ModelRecord(active: active, previous: previous, opening: opening, banned: {...banned, version: reason});

  /// After a trial: the one before is next in line.
  ModelRecord withActive(KeptRelease release) =>
      ModelRecord(active: release, previous: active?.version == release.version ? previous : active, banned: banned);

  /// Without the version of [active], for a reason if it is never to be tried again.
  ModelRecord withoutActive(String? banFor) {
    final dropped = active;
    return ModelRecord(
      active: previous,
      trying: trying,
      banned: dropped == null || banFor == null ? banned : {...banned, dropped.version: banFor},
    );
  }

  /// For [UpdateRecord.toJson].
  Map<String, Object?> toJson() => {
    'active': active?.toJson(),
    'previous': previous?.toJson(),
    'trying': trying?.toJson(),
    'opening': opening?.toJson(),
    'banned': [
      for (final MapEntry(:key, :value) in banned.entries) {'version': key, 'reason': value},
    ],
  };
}

/// A release whose files are on the device.
final class KeptRelease {
  /// `files` are the SHA-256 of its files, `document` that of the document that vouches for it.
  const KeptRelease(this.document, this.version, this.number, this.files);

  /// Null for none. Throws FormatException.
  static KeptRelease? of(Fields? found) => found == null
      ? null
      : KeptRelease(found.sha256('document'), found.text('version'), found.number('number'), found.texts('files'));

  /// SHA-256 of a document.
  final String document;

  /// Its name.
  final String version;

  /// Grows with the version.
  final int number;

  /// SHA-256 of its files.
  final List<String> files;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'document': document, 'version': version, 'number': number, 'files': files};
}

/// How often in a row a version was begun and not ended: the process was killed, or has crashed.
final class Attempt {
  /// At a version.
  const Attempt(this.version, this.count);

  /// Null for none. Throws FormatException.
  static Attempt? of(Fields? found) => found == null ? null : Attempt(found.text('version'), found.number('count'));

  /// One more than `before`, if that was of the same version.
  Attempt.next(Attempt? before, String version) : this(version, countOf(before, version) + 1);

  /// How often a version was begun.
  static int countOf(Attempt? before, String version) => before?.version == version ? before!.count : 0;

  /// Which one.
  final String version;

  /// How often.
  final int count;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'version': version, 'count': count};
}
