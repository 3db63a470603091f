// One update of all models.

import 'dart:math';

import '../errors.dart';
import '../options.dart';
import '../requests.dart';
import '../session.dart';
import '../storage.dart';
import '../system.dart';
import 'attempts.dart';
import 'gathering.dart';
import 'packaged.dart';
import 'record.dart';
import 'release.dart';
import 'releases.dart';
import 'states.dart';
import 'store.dart';
import 'trial.dart';
import 'tuf_client.dart';
import 'tuf_metadata.dart';

const int _firstMs = 30000;
const int _mostMs = 6 * 60 * 60 * 1000;
const int _mostDoublings = 10;

/// An update; `tell` hears of every model how far it is.
final class Update {
  /// From the folder at `address`.
  Update(this._address, this._options, this._store, this._requests, this._tell, this._isLeft);

  final Uri _address;
  final UpdateOptions _options;
  final UpdateStore _store;
  final Requests _requests;
  final void Function(String model, UpdateState state) _tell;
  final bool Function() _isLeft;
  bool _isFailed = false;

  /// SHA-256 of files that a download has begun with, and may go on with another time.
  final Set<String> _wanted = {};

  Delivery get _delivery => _store.delivery;

  List<String> get _models => [for (final each in _delivery.models) each.descriptor.name];

  /// Throws ModelException `cancelled`, and FileSystemException.
  Future<void> run({required bool isForced}) async {
    final record = await _store.record();
    final wait = record.notBefore - DateTime.now().millisecondsSinceEpoch;
    if (record.isFrozen) return _all(UpdatePhase.frozen, 'the app has frozen its updates');
    if (!isForced && wait > 0 && wait <= _mostMs) {
      final seconds = wait ~/ 1000 + 1;
      return _all(UpdatePhase.waiting, '${record.failures} requests failed: the next is due in $seconds s');
    }
    await _all(UpdatePhase.checking);
    final client = TufClient(_store, _address, _requests, record.latest);
    await _guarded(_models, () async {
      try {
        await client.refresh();
      } finally {
        await _store.change((record) => record.latest = client.latest);
      }
      for (final each in _delivery.models) {
        await _guarded([each.descriptor.name], () => _update(each, client));
      }
      await _store.prune(await _store.record(), wanted: _wanted);
    });
    if (!_isFailed) await _store.change((record) => record.failures = record.notBefore = 0);
  }

  /// Does `work`, whose failure is told of some models.
  Future<void> _guarded(List<String> models, Future<void> Function() work) async {
    try {
      await work();
    } on ModelException catch (failure) {
      await _failed(models, failure);
    } on ChannelException catch (refused) {
      if (!refused.isExpired) return _failed(models, ModelException(ModelErrorCode.corrupted, refused.message));
      for (final each in models) {
        await _say(each, UpdatePhase.expired, refused.message);
      }
    }
  }

  /// Tells of a failure that may pass, and asks nothing for some time.
  Future<void> _failed(List<String> models, ModelException failure) async {
    if (failure.code == ModelErrorCode.cancelled) throw failure;
    warn('no update: ${failure.message}');
    for (final each in models) {
      await _say(each, UpdatePhase.failed, failure.message);
    }
    if (_isFailed) return;
    _isFailed = true;
    await _store.change((record) {
      final pause = min(_mostMs, _firstMs << min(record.failures, _mostDoublings)) * (0.5 + Random().nextDouble() / 2);
      record
        ..failures += 1
        ..notBefore = DateTime.now().millisecondsSinceEpoch + pause.toInt();
    });
  }

  Future<void> _update(PackagedModel packaged, TufClient client) async {
    final name = packaged.descriptor.name;
    final newest = await client.releasesOf(name);
    if (newest != null) await _vouch(packaged, newest);
    final release = await _chosen(packaged, newest?.releases ?? const []);
    final record = (await _store.record()).of(name);
    if (release == null) {
      return _say(name, UpdatePhase.upToDate, 'the channel has nothing for this app and device');
    }
    final version = release.release.version;
    if (release.release.number <= _delivery.trust.number) {
      await _store.changeModel(name, (each) => each.clear());
      return _say(name, UpdatePhase.upToDate);
    }
    if (version == record.active?.version && release.needed(_providers(packaged)).every(_store.has)) {
      return _say(name, UpdatePhase.upToDate);
    }
    final attempts = _attemptsOf(name);
    if (await attempts.hasFailed(version)) {
      return _say(name, UpdatePhase.waiting, '$version has failed: the app tries it again after its next start');
    }
    if (await attempts.ended(AttemptKind.trying, version) >= mostAttempts) {
      return _ban(name, version, 'the process ended $mostAttempts times while it was tried');
    }
    await _take(packaged, release, newest!);
  }

  /// Keeps the newest metadata for releases that it lists and the device has: older metadata counts as long as its keys do.
  Future<void> _vouch(PackagedModel packaged, Vouched newest) async {
    final name = packaged.descriptor.name;
    final kept = (await _store.record()).of(name).releases;
    final listed = {
      for (final each in newest.releases)
        if (kept.any((it) => it.version == each.version && UpdatedRelease(packaged, each, _store).isOnDevice(it)))
          each.version,
    };
    if (listed.isEmpty) return;
    final voucher = await _store.vouch(newest.voucher);
    await _store.changeModel(name, (record) {
      for (final each in record.releases) {
        if (listed.contains(each.version)) each.voucher = voucher;
      }
    });
  }

  /// The first release that is for this app and this device.
  Future<UpdatedRelease?> _chosen(PackagedModel packaged, List<ChannelRelease> releases) async {
    final record = await _store.record();
    final name = packaged.descriptor.name;
    final pinned = record.pins[name];
    for (final each in releases) {
      if (!each.isForApp(_delivery.trust.number) || !each.isRolledOutTo(record.device)) continue;
      final isBanned = record.of(name).banned[each.version]?.holds(record.now) ?? false;
      if (isBanned || (pinned != null && each.version != pinned)) continue;
      final release = UpdatedRelease(packaged, each, _store);
      if (release.fits) return release;
    }
    return null;
  }

  List<Provider> _providers(PackagedModel packaged) =>
      providersOf(setupOf(packaged.descriptor), _options.load.providers);

  /// Downloads a release, if this device may, and tries it.
  Future<void> _take(PackagedModel packaged, UpdatedRelease release, Vouched newest) async {
    final name = packaged.descriptor.name;
    final blobs = release.needed(_providers(packaged));
    _wanted.addAll(blobs.map((each) => each.sha256));
    await _store.removeDamaged(blobs.where(_store.has).map((each) => each.sha256));
    final version = await _store.version(name);
    final gathering = Gathering(_address, packaged.descriptor, _store, _requests, (phase, loaded, total) {
      _tell(name, UpdateState(phase, version, loadedBytes: loaded, totalBytes: total));
    });
    try {
      if (gathering.sizeOfDownloads(blobs) > 0) {
        final reason = await _waitingFor(release.release);
        if (reason != null) return await _say(name, UpdatePhase.waiting, reason);
      }
      if (!blobs.every(_store.has)) {
        final reason = await _lacking(blobs, gathering);
        if (reason != null) return await _say(name, UpdatePhase.failed, reason);
      }
      await gathering.get(blobs);
      final files = [for (final each in blobs) each.sha256];
      final voucher = await _store.vouch(newest.voucher);
      final kept = KeptRelease(voucher, release.release.version, release.release.number, files);
      await _attempt(name, release, kept);
    } on ModelException catch (failure) {
      if (failure.code != ModelErrorCode.noSpace) return _failed([name], failure);
      await _say(name, UpdatePhase.failed, failure.message);
    }
  }

  /// Condition of the release that the device does not meet; null if there is none.
  Future<String?> _waitingFor(ChannelRelease release) async {
    final conditions = await _options.conditions?.call() ?? const DeviceConditions();
    if (release.needsWifi && conditions.isUnmetered != true) {
      return 'the release waits for a network that is not metered, of which UpdateOptions.conditions tells';
    }
    if (release.needsCharging && conditions.isCharging != true) {
      return 'the release waits until the device is being charged, of which UpdateOptions.conditions tells';
    }
    final free = await freeBytes(_store.files);
    if (free == null || release.freeBytes <= free) return null;
    return 'the release waits for ${release.freeBytes} bytes of free storage';
  }

  /// Why there is no room; null if there is.
  Future<String?> _lacking(List<Blob> blobs, Gathering gathering) async {
    final named = {...(await _store.record()).files, for (final each in blobs) each.sha256};
    final missing = blobs.where((each) => !_store.has(each)).fold(0, (sum, each) => sum + each.sizeBytes);
    final all = missing + await _store.keptBytes((name) => !named.contains(name));
    if (all > _options.storageLimit) {
      return 'all downloads would take $all bytes: the limit is ${_options.storageLimit}';
    }
    final needed = gathering.storageFor(blobs);
    final free = await freeBytes(_store.files);
    return free == null || needed <= free ? null : 'the download needs $needed bytes of storage, $free are free';
  }

  /// Tries a release. One that cannot be right is banned; another failure may pass.
  Future<void> _attempt(String name, UpdatedRelease release, KeptRelease kept) async {
    await _say(name, UpdatePhase.trying);
    final attempts = _attemptsOf(name);
    try {
      await attempts.during(AttemptKind.trying, kept.version, () async {
        await tryRelease(release, _options.load);
        _requests.check();
      });
    } on ModelException catch (failure) {
      switch (Fault.of(failure)) {
        case Fault.device:
          rethrow;
        case Fault.runtime when await attempts.mayFail(kept.version):
          warn('$name ${kept.version} has failed, and is tried again: ${failure.message}');
          return _say(name, UpdatePhase.failed, '${kept.version} has failed, and is tried again: ${failure.message}');
        case Fault.runtime || Fault.proven:
          return _ban(name, kept.version, failure.message);
      }
    }
    await _store.changeModel(name, (each) => each.take(kept));
    await _say(name, UpdatePhase.ready);
  }

  Attempts _attemptsOf(String name) => Attempts(_store, name, _isLeft, {_options.load.observer});

  Future<void> _ban(String name, String version, String words) async {
    final reason = await _attemptsOf(name).ban(version, words);
    warn('$name $version is not tried for ${Ban.days} days: $reason');
    await _say(name, UpdatePhase.failed, '$version is not tried for ${Ban.days} days: $reason');
  }

  Future<void> _all(UpdatePhase phase, [String reason = '']) async {
    for (final each in _models) {
      await _say(each, phase, reason);
    }
  }

  Future<void> _say(String name, UpdatePhase phase, [String reason = '']) async =>
      _tell(name, UpdateState(phase, await _store.version(name), reason: reason));
}
