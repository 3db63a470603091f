// Opens what an updater has downloaded. Whatever goes wrong, the model before it is opened, and at last the app's own.

import 'dart:io';

import '../descriptor.dart';
import '../download.dart';
import '../errors.dart';
import '../model.dart';
import '../options.dart';
import '../storage.dart';
import 'attempts.dart';
import 'record.dart';
import 'release.dart';
import 'states.dart';
import 'store.dart';
import 'tuf_client.dart';

/// Errors of an attempt that say nothing against a release: with the app's own model it would be the same.
const Set<ModelErrorCode> _ownFaults = {
  ModelErrorCode.cancelled,
  ModelErrorCode.badOptions,
  ModelErrorCode.runtimeVersion,
  ModelErrorCode.unsupported,
};

/// Errors that the app's memory and isolates are to blame for: the release is opened another time.
const Set<ModelErrorCode> _passing = {ModelErrorCode.host, ModelErrorCode.outOfMemory};

/// The newest release of a model that this device has; where none can be opened, what `fallback` gives.
///
/// An attempt is written down before a release is opened: one that ends the process twice is not opened for some time.
final class UpdaterSource extends OpeningSource {
  /// `onChange` hears why a release is not opened, and the observer of `options` of bans; `isLeft` tells whether the app is
  /// in the background.
  const UpdaterSource(this._store, this._options, this._onChange, this._isLeft);

  final UpdateStore Function() _store;
  final UpdateOptions _options;
  final Future<void> Function(String model, String reason) _onChange;
  final bool Function() _isLeft;

  @override
  Future<LoadedModel> open(ModelDescriptor descriptor, LoadOptions options) async {
    try {
      // One load after the other: two at once would look like two that have not ended.
      final store = _store();
      final lock = File('${store.folder.path}/opening-${descriptor.name}.lock');
      final attempts = Attempts(store, descriptor.name, _isLeft, {_options.load.observer, options.observer});
      final opening = _Opening(store, descriptor.name, attempts, _onChange);
      final found = await locked(lock, () => opening.newest(options));
      if (found != null) return found;
    } on FileSystemException catch (failure) {
      warn('the updates of ${descriptor.name} cannot be read: ${wordsOf(failure)}');
    }
    return LoadedModel.load(descriptor, options.withSource(_options.fallback));
  }
}

/// The load of a model.
final class _Opening {
  _Opening(this._store, this._model, this._attempts, this._onChange);

  final UpdateStore _store;
  final String _model;
  final Attempts _attempts;
  final Future<void> Function(String model, String reason) _onChange;

  /// Releases that this load does not open, and another one may.
  final Set<String> _passed = {};

  /// Null when there is none.
  Future<LoadedModel?> newest(LoadOptions options) async {
    while (true) {
      final releases = (await _store.record()).of(_model).releases;
      final kept = releases.where((each) => !_passed.contains(each.version)).firstOrNull;
      if (kept == null) return null;
      final release = await _releaseOf(kept);
      if (kept.number <= _store.delivery.trust.number) {
        await _drop(kept, "the app's own model is newer");
      } else if (release == null) {
        await _drop(kept, 'its files, or the metadata about them, are damaged or not trusted');
      } else if (await _attempts.ended(AttemptKind.opening, kept.version) >= mostAttempts) {
        await _drop(kept, 'the process ended $mostAttempts times while it was opened', isBanned: true);
      } else if (await _attempts.hasFailed(kept.version)) {
        _passed.add(kept.version);
      } else {
        final opened = await _opened(kept, () async => LoadedModel.load(await release.model(), options, release.files));
        if (opened != null) return opened;
      }
    }
  }

  Future<UpdatedRelease?> _releaseOf(KeptRelease kept) async {
    final releases = await vouchedReleases(_store, kept.voucher, _model);
    final found = releases?.where((each) => each.version == kept.version).firstOrNull;
    if (found == null) return null;
    final release = UpdatedRelease(_store.delivery.of(_model), found, _store);
    return release.fits && release.isOnDevice(kept) ? release : null;
  }

  /// Calls `load`; null when it fails, and then another release is to be tried.
  Future<LoadedModel?> _opened(KeptRelease kept, Future<LoadedModel> Function() load) async {
    final LoadedModel opened;
    try {
      opened = await _attempts.during(AttemptKind.opening, kept.version, load);
    } on ModelException catch (error) {
      if (_ownFaults.contains(error.code)) rethrow;
      await _failed(kept, error);
      return null;
    }
    try {
      await _store.changeModel(_model, (each) => each.opened(kept.version));
    } on FileSystemException catch (failure) {
      warn('the opening of $_model cannot be recorded: ${wordsOf(failure)}');
    }
    return opened;
  }

  Future<void> _failed(KeptRelease kept, ModelException error) async {
    var fault = error.code == ModelErrorCode.corrupted ? Fault.device : Fault.of(error);
    if (fault != Fault.device && await _store.removeDamaged(kept.files)) fault = Fault.device;
    final mayPass = _passing.contains(error.code) || (fault == Fault.runtime && await _attempts.mayFail(kept.version));
    if (!mayPass) return _drop(kept, error.message, isBanned: fault != Fault.device);
    _passed.add(kept.version);
    await _tell('${kept.version} is not opened this time: ${error.message}');
  }

  Future<void> _drop(KeptRelease kept, String reason, {bool isBanned = false}) async {
    await _store.changeModel(_model, (each) => each.drop(kept));
    if (isBanned) await _attempts.ban(kept.version, reason);
    await _tell('${kept.version} is not opened${isBanned ? ' for ${Ban.days} days' : ''}: $reason');
  }

  Future<void> _tell(String reason) {
    warn('$_model $reason');
    return _onChange(_model, '$_model $reason');
  }
}
