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
  /// Record of a device that has none yet.
  UpdateRecord()
    : device = [for (var index = 0; index < 32; index++) Random.secure().nextInt(16).toRadixString(16)].join(),
      pins = {},
      models = {};

  /// Throws FormatException for a text that is none.
  UpdateRecord.of(String json) : this._(Fields(jsonDecode(json)));

  UpdateRecord._(Fields found)
    : device = found.text('device'),
      latest = found.number('latest'),
      notBefore = found.number('not-before'),
      failures = found.number('failures'),
      isFrozen = found.flag('frozen'),
      pins = {for (final each in found.member('pins').all) each: found.member('pins').text(each)},
      models = found.member('models').each(ModelRecord.of) {
    if (found.number('schema') != _schema) throw const FormatException('it has another schema');
  }

  /// Made once: it decides which rollouts this device is part of.
  final String device;

  /// The largest time at which metadata of the channel was published, in milliseconds since 1970: it is not earlier now.
  int latest = 0;

  /// Milliseconds since 1970 before which nothing is asked, after [failures].
  int notBefore = 0;

  /// In a row.
  int failures = 0;

  /// Whether nothing is asked.
  bool isFrozen = false;

  /// Versions by model.
  final Map<String, String> pins;

  /// By name.
  final Map<String, ModelRecord> models;

  /// Milliseconds since 1970, and not before [latest].
  int get now => max(DateTime.now().millisecondsSinceEpoch, latest);

  /// Record of a model.
  ModelRecord of(String model) => models[model] ??= ModelRecord();

  /// SHA-256 of all files and vouchers that the next load, or the one after a failure, may need.
  Set<String> get files => {
    for (final model in models.values)
      for (final each in model.releases) ...[each.voucher, ...each.files],
  };

  /// The record as JSON.
  String toJson() => jsonEncode({
    'schema': _schema,
    'device': device,
    'latest': latest,
    'not-before': notBefore,
    'failures': failures,
    'frozen': isFrozen,
    'pins': pins,
    'models': models,
  });
}

/// Record of one model.
final class ModelRecord {
  /// Record of a model that has no release yet.
  ModelRecord() : attempts = {}, banned = {};

  /// Throws FormatException.
  ModelRecord.of(Fields found)
    : active = KeptRelease.of(found.optional('active')),
      previous = KeptRelease.of(found.optional('previous')),
      attempts = {for (final kind in AttemptKind.values) kind: ?Attempt.of(found.optional(kind.name))},
      banned = {
        for (final each in found.list('banned')) each.text('version'): Ban(each.text('reason'), each.number('until')),
      };

  /// Release that the next load opens; null for the app's own model.
  KeptRelease? active;

  /// Release that a load opens after a failure of [active].
  KeptRelease? previous;

  /// Trials and loads that have not ended, and starts of the app in which ONNX Runtime has failed.
  final Map<AttemptKind, Attempt> attempts;

  /// By version.
  final Map<String, Ban> banned;

  /// Releases that a load opens, best first.
  List<KeptRelease> get releases => [?active, ?previous];

  /// Forgets all releases.
  void clear() {
    active = previous = null;
    attempts.removeWhere((kind, _) => kind != AttemptKind.failing);
  }

  /// A version is not tried for some time from `now` on; bans that have ended are forgotten.
  void ban(String version, String reason, int now) {
    attempts.removeWhere((_, each) => each.version == version);
    banned
      ..removeWhere((_, each) => !each.holds(now))
      ..addAll({version: Ban(reason, now + Ban.days * Duration.millisecondsPerDay)});
  }

  /// A trial of `release` has passed: the one before is next in line.
  void take(KeptRelease release) {
    if (active?.version != release.version) previous = active;
    active = release;
    attempts.removeWhere((kind, each) => kind != AttemptKind.failing || each.version == release.version);
  }

  /// A version was opened.
  void opened(String version) {
    attempts.removeWhere((kind, each) => kind != AttemptKind.trying && each.version == version);
  }

  /// Forgets a release.
  void drop(KeptRelease release) {
    final left = releases.where((each) => each.version != release.version || each.voucher != release.voucher).toList();
    active = left.firstOrNull;
    previous = left.elementAtOrNull(1);
    if (attempts[AttemptKind.opening]?.version == release.version) attempts.remove(AttemptKind.opening);
  }

  /// For [UpdateRecord.toJson].
  Map<String, Object?> toJson() => {
    'active': active,
    'previous': previous,
    for (final kind in AttemptKind.values) kind.name: attempts[kind],
    'banned': [
      for (final MapEntry(:key, :value) in banned.entries)
        {'version': key, 'reason': value.reason, 'until': value.until},
    ],
  };
}

/// Why a version is not tried, and the time until then.
final class Ban {
  /// `until` is in milliseconds since 1970.
  const Ban(this.reason, this.until);

  /// Number of days for which a ban holds.
  static const int days = 30;

  /// For people.
  final String reason;

  /// In milliseconds since 1970.
  final int until;

  /// Whether the version must not be tried at the time `now`; no longer than a ban is made for, whatever the clock was then.
  bool holds(int now) => now < until && until <= now + days * Duration.millisecondsPerDay;
}

/// Action on a release that may end the process, or fails for many reasons.
enum AttemptKind {
  /// The release is tried.
  trying,

  /// The release is opened for the app.
  opening,

  /// ONNX Runtime has failed at the release.
  failing,
}

/// A release whose files are on the device.
final class KeptRelease {
  /// `files` are the SHA-256 of its files, `voucher` that of the metadata that vouches for it.
  KeptRelease(this.voucher, this.version, this.number, this.files);

  /// Null for none. Throws FormatException.
  static KeptRelease? of(Fields? found) => found == null
      ? null
      : KeptRelease(found.sha256('voucher'), found.text('version'), found.number('number'), found.texts('files'));

  /// SHA-256 of metadata. Newer metadata may vouch for it, too.
  String voucher;

  /// Its name.
  final String version;

  /// Grows with the version.
  final int number;

  /// SHA-256 of its files.
  final List<String> files;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'voucher': voucher, 'version': version, 'number': number, 'files': files};
}

/// How often in a row a version was begun and not ended, because the process was killed or has crashed; or has failed.
final class Attempt {
  /// At a version; `start` names the start of the app in which it was begun last.
  const Attempt(this.version, this.count, this.start);

  /// Null for none. Throws FormatException.
  static Attempt? of(Fields? found) =>
      found == null ? null : Attempt(found.text('version'), found.number('count'), found.text('start'));

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

  /// Identity of that start.
  final String start;

  /// For [UpdateRecord.toJson].
  Map<String, Object> toJson() => {'version': version, 'count': count, 'start': start};
}
