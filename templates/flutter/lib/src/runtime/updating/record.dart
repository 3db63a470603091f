// What an updater keeps from one start of the app to the next: the content of `state.json`.

import 'dart:convert';
import 'dart:math';

import 'fields.dart';

const int _schema = 1;

/// Number of times that a version may have ended the process.
const int mostAttempts = 2;

/// In as many starts of the app ONNX Runtime may have failed at a version.
const int mostFailing = 3;

/// The record of all models.
final class UpdateRecord {
  /// Takes the whole record.
  const UpdateRecord({
    required this.device,
    this.latest = 0,
    this.notBefore = 0,
    this.failures = 0,
    this.isFrozen = false,
    this.pins = const {},
    this.models = const {},
  });

  /// Record of a device that has none yet.
  factory UpdateRecord.first() {
    final random = Random.secure();
    final device = [for (var index = 0; index < 16; index++) random.nextInt(256).toRadixString(16).padLeft(2, '0')];
    return UpdateRecord(device: device.join());
  }

  /// Throws FormatException for a text that is none.
  factory UpdateRecord.of(String json) {
    final found = Fields(jsonDecode(json));
    if (found.number('schema') != _schema) throw const FormatException('it has another schema');
    final pins = found.member('pins');
    final models = found.member('models');
    return UpdateRecord(
      device: found.text('device'),
      latest: found.number('latest'),
      notBefore: found.number('not-before'),
      failures: found.number('failures'),
      isFrozen: found.flag('frozen'),
      pins: {for (final each in pins.all) each: pins.text(each)},
      models: {for (final each in models.all) each: ModelRecord.of(models.member(each))},
    );
  }

  /// Made once: it decides which rollouts this device is part of.
  final String device;

  /// The largest time at which metadata of the channel was published, in milliseconds since 1970: it is not earlier now.
  final int latest;

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

  /// Milliseconds since 1970, and not before [latest].
  int get now => max(DateTime.now().millisecondsSinceEpoch, latest);

  /// Record of a model.
  ModelRecord of(String model) => models[model] ?? const ModelRecord();

  /// SHA-256 of all files that the next load, or the one after a failure, may need.
  Set<String> get files => {for (final each in _releases) ...each.files};

  /// SHA-256 of all vouchers that are needed.
  Set<String> get vouchers => {for (final each in _releases) each.voucher};

  Iterable<KeptRelease> get _releases => models.values.expand((each) => each.releases);

  /// With other values.
  UpdateRecord copy({
    int? latest,
    int? notBefore,
    int? failures,
    bool? isFrozen,
    Map<String, String>? pins,
    Map<String, ModelRecord>? models,
  }) => UpdateRecord(
    device: device,
    latest: latest ?? this.latest,
    notBefore: notBefore ?? this.notBefore,
    failures: failures ?? this.failures,
    isFrozen: isFrozen ?? this.isFrozen,
    pins: pins ?? this.pins,
    models: models ?? this.models,
  );

  /// The record as JSON.
  String toJson() => jsonEncode({
    'schema': _schema,
    'device': device,
    'latest': latest,
    'not-before': notBefore,
    'failures': failures,
    'frozen': isFrozen,
    'pins': pins,
    'models': {for (final MapEntry(:key, :value) in models.entries) key: value.toJson()},
  });
}

/// Record of one model.
final class ModelRecord {
  /// Takes the whole record of a model.
  const ModelRecord({this.active, this.previous, this.attempts = const {}, this.banned = const {}, this.failing});

  /// Throws FormatException.
  ModelRecord.of(Fields found)
    : active = KeptRelease.of(found.optional('active')),
      previous = KeptRelease.of(found.optional('previous')),
      attempts = {for (final kind in AttemptKind.values) kind: ?Attempt.of(found.optional(kind.name))},
      banned = {
        for (final each in found.list('banned'))
          each.text('version'): Ban(each.text('reason'), each.numberOrZero('until')),
      },
      failing = Failing.of(found.optional('failing'));

  /// Release that the next load opens; null for the app's own model.
  final KeptRelease? active;

  /// Release that a load opens after a failure of [active].
  final KeptRelease? previous;

  /// Trials and loads that have not ended.
  final Map<AttemptKind, Attempt> attempts;

  /// By version.
  final Map<String, Ban> banned;

  /// The version that ONNX Runtime has failed at; null for none.
  final Failing? failing;

  /// Releases that a load opens, best first.
  List<KeptRelease> get releases => [?active, ?previous];

  /// Without any release.
  ModelRecord get empty => ModelRecord(banned: banned, failing: failing);

  ModelRecord _copy({
    Map<AttemptKind, Attempt>? attempts,
    Map<String, Ban>? banned,
    Failing? Function()? failing,
    KeptRelease Function(KeptRelease kept)? kept,
  }) => ModelRecord(
    active: active == null || kept == null ? active : kept(active!),
    previous: previous == null || kept == null ? previous : kept(previous!),
    attempts: attempts ?? this.attempts,
    banned: banned ?? this.banned,
    failing: failing == null ? this.failing : failing(),
  );

  /// With another attempt.
  ModelRecord withAttempt(AttemptKind kind, Attempt? attempt) =>
      _copy(attempts: {..._attemptsBut(kind), kind: ?attempt});

  Map<AttemptKind, Attempt> _attemptsBut(AttemptKind kind) => {
    for (final MapEntry(:key, :value) in attempts.entries)
      if (key != kind) key: value,
  };

  /// After ONNX Runtime has failed.
  ModelRecord withFailing(Failing failing) => _copy(failing: () => failing);

  /// Where a version is not tried as long as a ban holds; those that have ended at the time `now` are forgotten.
  ModelRecord withBan(String version, Ban ban, int now) => _copy(
    attempts: {...attempts}..removeWhere((_, each) => each.version == version),
    banned: {...banned}
      ..removeWhere((_, each) => !each.holds(now))
      ..addAll({version: ban}),
    failing: () => failing?.version == version ? null : failing,
  );

  /// Where newer metadata vouches for some versions.
  ModelRecord withVoucher(String voucher, Set<String> versions) => _copy(
    kept: (each) =>
        versions.contains(each.version) ? KeptRelease(voucher, each.version, each.number, each.files) : each,
  );

  /// After a trial: the one before is next in line.
  ModelRecord withActive(KeptRelease release) => ModelRecord(
    active: release,
    previous: active?.version == release.version ? previous : active,
    banned: banned,
    failing: failing?.version == release.version ? null : failing,
  );

  /// After a version was opened.
  ModelRecord withOpened(String version) =>
      _copy(attempts: _attemptsBut(AttemptKind.opening), failing: () => failing?.version == version ? null : failing);

  /// Without a release.
  ModelRecord without(KeptRelease release) {
    final left = releases.where((each) => !each.isSameAs(release)).toList();
    return ModelRecord(
      active: left.firstOrNull,
      previous: left.skip(1).firstOrNull,
      attempts: {...attempts}
        ..removeWhere((kind, each) => kind == AttemptKind.opening && each.version == release.version),
      banned: banned,
      failing: failing,
    );
  }

  /// For [UpdateRecord.toJson].
  Map<String, Object?> toJson() => {
    'active': active?.toJson(),
    'previous': previous?.toJson(),
    for (final kind in AttemptKind.values) kind.name: attempts[kind]?.toJson(),
    'banned': [
      for (final MapEntry(:key, :value) in banned.entries)
        {'version': key, 'reason': value.reason, 'until': value.until},
    ],
    'failing': failing?.toJson(),
  };
}

/// Why a version is not tried, and the time until then.
final class Ban {
  /// `until` is in milliseconds since 1970.
  const Ban(this.reason, this.until);

  /// From the time `now` on.
  Ban.from(int now, String reason) : this(reason, now + days * Duration.millisecondsPerDay);

  /// Number of days for which a ban holds.
  static const int days = 30;

  /// For people.
  final String reason;

  /// In milliseconds since 1970.
  final int until;

  /// Whether the version must not be tried at the time `now`; no longer than a ban is made for, whatever the clock was then.
  bool holds(int now) => now < until && until <= now + days * Duration.millisecondsPerDay;
}

/// The starts of the app in which ONNX Runtime has failed at a version.
final class Failing {
  /// `last` names the last one of them.
  const Failing(this.version, this.starts, this.last);

  /// Null for none. Throws FormatException.
  static Failing? of(Fields? found) =>
      found == null ? null : Failing(found.text('version'), found.number('starts'), found.textOrEmpty('last'));

  /// After a failure in the start `start`, which counts once.
  factory Failing.after(Failing? before, String version, String start) {
    if (before?.version != version) return Failing(version, 1, start);
    return before!.last == start ? before : Failing(version, before.starts + 1, start);
  }

  /// Version that has failed.
  final String version;

  /// How many.
  final int starts;

  /// Identity of the start in which it has failed last.
  final String last;

  /// Whether it must not be tried again in the start `start`.
  bool isIn(String start, String version) => last == start && this.version == version;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'version': version, 'starts': starts, 'last': last};
}

/// Action on a release.
enum AttemptKind {
  /// The release is tried.
  trying,

  /// The release is opened for the app.
  opening,
}

/// A release whose files are on the device.
final class KeptRelease {
  /// `files` are the SHA-256 of its files, `voucher` that of the metadata that vouches for it.
  const KeptRelease(this.voucher, this.version, this.number, this.files);

  /// Null for none. Throws FormatException.
  static KeptRelease? of(Fields? found) => found == null
      ? null
      : KeptRelease(found.sha256('voucher'), found.text('version'), found.number('number'), found.texts('files'));

  /// Whether it is the same version, with the same voucher.
  bool isSameAs(KeptRelease other) => version == other.version && voucher == other.voucher;

  /// SHA-256 of metadata.
  final String voucher;

  /// Its name.
  final String version;

  /// Grows with the version.
  final int number;

  /// SHA-256 of its files.
  final List<String> files;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'voucher': voucher, 'version': version, 'number': number, 'files': files};
}

/// How often in a row a version was begun and not ended: the process was killed, or has crashed.
final class Attempt {
  /// At a version; `start` names the start of the app in which it was begun last.
  const Attempt(this.version, this.count, this.start);

  /// Null for none. Throws FormatException.
  static Attempt? of(Fields? found) =>
      found == null ? null : Attempt(found.text('version'), found.number('count'), found.textOrEmpty('start'));

  /// After `before`, begun in the start `start`. What an isolate of the same process has begun, and not ended, has ended no
  /// process: it does not count.
  Attempt.next(Attempt? before, String version, String start) : this(version, ended(before, version, start) + 1, start);

  /// How often a process has ended at a version, before the start `start`.
  static int ended(Attempt? before, String version, String start) {
    if (before == null || before.version != version) return 0;
    return before.start == start ? before.count - 1 : before.count;
  }

  /// Version of the release.
  final String version;

  /// How often.
  final int count;

  /// Empty for one of earlier packages.
  final String start;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'version': version, 'count': count, 'start': start};
}
