// Delivers newer models to apps.

import 'dart:async';
import 'dart:io';

import '../cancellation.dart';
import '../download.dart';
import '../errors.dart';
import '../options.dart';
import '../presence.dart';
import '../requests.dart';
import '../storage.dart';
import 'opening.dart';
import 'packaged.dart';
import 'record.dart';
import 'states.dart';
import 'store.dart';
import 'update.dart';

/// The updater of a package. Its generated subclass knows the package.
abstract base class Updater {
  /// From the folder that `mobpack channel publish` writes to: with `https`, and `/` at the end of its address.
  ///
  /// Throws ModelException `badOptions` for another address.
  Updater(
    this._delivery,
    String address, {
    this.options = const UpdateOptions(),
    Pace pace = const Pace(),
    bool Function() isLeft = isAppLeft,
  }) : _address = folderAt(address),
       _pace = pace,
       _isLeft = isLeft {
    for (final each in _delivery.models) {
      _states[each.descriptor.name] = UpdateState(UpdatePhase.unchecked, _delivery.version);
    }
  }

  final Delivery _delivery;
  final Uri _address;
  final Pace _pace;
  final bool Function() _isLeft;

  /// How it does so.
  final UpdateOptions options;

  final Map<String, UpdateState> _states = {};
  final StreamController<Map<String, UpdateState>> _told = StreamController.broadcast();
  late final UpdateStore _store = UpdateStore(_delivery, packageFolder(_delivery.trust.package, options.folder));

  /// For the `load` of each model of this package. It never fails for reasons of the updates.
  late final ModelSource source = UpdaterSource(() => _store, options, _dropped, _isLeft);

  /// How far each model is, by its name.
  Map<String, UpdateState> get states => Map.unmodifiable(_states);

  /// [states], each time that one of them has changed.
  Stream<Map<String, UpdateState>> get changes => _told.stream;

  /// Asks the channel for newer models, downloads them, tries them, and says how far each model is. Models that are open
  /// stay as they are: the next load opens the new ones. A download that was cancelled goes on the next time.
  ///
  /// After a failure, nothing is asked for some time, 30 seconds at first, unless `force` is true.
  ///
  /// Throws ModelException `cancelled`.
  Future<Map<String, UpdateState>> update({bool force = false, Cancellation? cancellation}) async {
    final requests = Requests(cancellation, pace: _pace);
    try {
      final done = await _store.whileUpdating(() async {
        await Update(_address, options, _store, requests, _tell, _isLeft).run(isForced: force);
        return true;
      });
      if (done == null) await _all(UpdatePhase.waiting, 'somebody else updates');
    } on FileSystemException catch (failure) {
      await _all(UpdatePhase.failed, 'the state of the updates cannot be kept: ${wordsOf(failure)}');
    } finally {
      requests.close();
    }
    return states;
  }

  /// From now on [update] does nothing, until [unfreeze].
  Future<void> freeze() => _change((record) => record.isFrozen = true);

  /// Ends [freeze].
  Future<void> unfreeze() => _change((record) => record.isFrozen = false);

  /// From now on [update] takes no other `version` of a model.
  ///
  /// Throws ModelException `badOptions` for a model that this package does not have.
  Future<void> pin(String model, String version) {
    if (!_states.containsKey(model)) {
      throw ModelException(ModelErrorCode.badOptions, 'this package has no model $model');
    }
    return _change((record) => record.pins[model] = version);
  }

  /// Ends [pin].
  Future<void> unpin(String model) => _change((record) => record.pins.remove(model));

  /// Removes all downloads: the next load opens the app's own model. Models that are open keep working.
  Future<void> remove() async {
    await _change((record) {
      for (final each in record.models.values) {
        each.clear();
      }
    });
    await keeping(_store.folder.path, () async => _store.prune(await _store.record()));
    await _all(UpdatePhase.unchecked);
  }

  Future<void> _change(void Function(UpdateRecord record) change) =>
      keeping(_store.folder.path, () => _store.change(change));

  Future<void> _dropped(String model, String reason) async {
    _tell(model, UpdateState(UpdatePhase.failed, await _store.version(model), reason: reason));
  }

  Future<void> _all(UpdatePhase phase, [String reason = '']) async {
    for (final each in [..._states.keys]) {
      _tell(each, UpdateState(phase, await _versionOf(each), reason: reason));
    }
  }

  /// The app's own where nothing can be read.
  Future<String> _versionOf(String model) async {
    try {
      return await _store.version(model);
    } on FileSystemException {
      return _delivery.version;
    }
  }

  void _tell(String model, UpdateState state) {
    _states[model] = state;
    _told.add(states);
  }
}
