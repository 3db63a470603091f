// Opens what an updater has downloaded. Whatever goes wrong, the model before it is opened, and at last the app's own.

import 'dart:io';

import '../descriptor.dart';
import '../download.dart';
import '../errors.dart';
import '../model.dart';
import '../options.dart';
import '../storage.dart';
import 'document.dart';
import 'record.dart';
import 'release.dart';
import 'store.dart';

/// Errors of an attempt that say nothing against a release: with the app's own model it would be the same.
const Set<ModelErrorCode> ownFaults = {
  ModelErrorCode.cancelled,
  ModelErrorCode.badOptions,
  ModelErrorCode.runtimeVersion,
  ModelErrorCode.unsupported,
};

/// Errors for which a release is never opened again.
const Set<ModelErrorCode> faults = {ModelErrorCode.runtime, ModelErrorCode.badModel, ModelErrorCode.badInput};

/// The newest release of a model that this device has; where none can be opened, what `fallback` gives.
///
/// An attempt is written down before a release is opened: one that ends the process twice is not opened again.
final class UpdaterSource extends OpeningSource {
  /// `onChange` hears why a release is not opened.
  const UpdaterSource(this._store, this._fallback, this._onChange);

  final UpdateStore Function() _store;
  final ModelSource _fallback;
  final Future<void> Function(String model, String reason) _onChange;

  @override
  Future<LoadedModel> open(ModelDescriptor descriptor, LoadOptions options) async {
    try {
      // One load after the other: two at once would look like two that have not ended.
      final store = _store();
      final lock = File('${store.folder.path}/opening-${descriptor.name}.lock');
      final found = await locked(lock, () => _newest(store, descriptor, options));
      if (found != null) return found;
    } on FileSystemException catch (failure) {
      warn('the updates of ${descriptor.name} cannot be read: ${wordsOf(failure)}');
    }
    return LoadedModel.load(descriptor, options.withSource(_fallback));
  }

  /// Null when there is none.
  Future<LoadedModel?> _newest(UpdateStore store, ModelDescriptor descriptor, LoadOptions options) async {
    while (true) {
      final kept = (await store.record()).of(descriptor.name).active;
      if (kept == null) return null;
      final attempt = _Attempt(store, descriptor.name, kept, _onChange);
      if (kept.number <= store.delivery.trust.number) {
        await attempt.drop("the app's own model is newer");
        continue;
      }
      final release = await _releaseOf(kept, store, descriptor.name);
      if (release == null) {
        await attempt.drop('its files, or the document about them, are damaged');
        continue;
      }
      if (!await attempt.isBegun()) continue;
      final opened = await attempt.open(() async => LoadedModel.load(await release.model(), options, release.files));
      if (opened != null) return opened;
    }
  }

  Future<UpdatedRelease?> _releaseOf(KeptRelease kept, UpdateStore store, String model) async {
    final document = await store.document(kept.document);
    final List<ChannelRelease> releases = document?.models[model] ?? const [];
    final found = releases.where((each) => each.version == kept.version).firstOrNull;
    if (found == null) return null;
    final release = UpdatedRelease(store.delivery.of(model), found, store);
    return release.fits && release.isOnDevice(kept) ? release : null;
  }
}

/// An attempt to open a release.
final class _Attempt {
  const _Attempt(this._store, this._model, this._kept, this._onChange);

  final UpdateStore _store;
  final String _model;
  final KeptRelease _kept;
  final Future<void> Function(String model, String reason) _onChange;

  /// Counts it; false for a version that has ended the process too often, which is banned.
  Future<bool> isBegun() async {
    final opening = (await _store.record()).of(_model).opening;
    if (Attempt.countOf(opening, _kept.version) >= mostAttempts) {
      await drop('the process ended $mostAttempts times while it was opened', isBanned: true);
      return false;
    }
    await _store.changeModel(_model, (each) => each.withOpening(Attempt.next(each.opening, _kept.version)));
    return true;
  }

  /// What `load` gives; null when it fails, and then another release is to be tried.
  Future<LoadedModel?> open(Future<LoadedModel> Function() load) async {
    final LoadedModel opened;
    try {
      opened = await load();
    } on ModelException catch (error) {
      if (ownFaults.contains(error.code)) {
        await _end();
        rethrow;
      }
      await drop(error.message, isBanned: faults.contains(error.code));
      return null;
    }
    await _end();
    return opened;
  }

  Future<void> _end() async {
    try {
      await _store.changeModel(_model, (each) => each.withOpening(null));
    } on FileSystemException catch (failure) {
      warn('it cannot be written down that $_model was opened: ${wordsOf(failure)}');
    }
  }

  Future<void> drop(String reason, {bool isBanned = false}) async {
    final text = '$_model ${_kept.version} is not opened${isBanned ? ' again' : ''}: $reason';
    warn(text);
    await _store.changeModel(_model, (each) {
      final isSame = each.active?.version == _kept.version && each.active?.document == _kept.document;
      return isSame ? each.withoutActive(isBanned ? reason : null) : each;
    });
    await _onChange(_model, text);
  }
}
