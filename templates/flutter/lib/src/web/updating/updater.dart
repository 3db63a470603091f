// Delivers newer models to pages: by the updater of the package for pages.

import 'dart:async';
import 'dart:js_interop';
import 'dart:js_interop_unsafe';

import '../../runtime/cancellation.dart';
import '../../runtime/errors.dart';
import '../../runtime/observing.dart';
import '../../runtime/options.dart';
import '../../runtime/updating/states.dart';
import '../interop.dart';
import '../modules.dart';

extension type _State._(JSObject _) implements JSObject {
  external String get phase;
  external String get version;
  external int get loadedBytes;
  external int get totalBytes;
  external String get reason;
}

extension type _Ban._(JSObject _) implements JSObject {
  external String get model;
  external String get version;
  external String get reason;
}

extension type _Updater._(JSObject _) implements JSObject {
  external JSObject get source;
  external JSObject get states;
  external JSObject subscribe(JSFunction listener);
  external JSPromise<JSObject> update(JSObject request);
  external JSPromise<JSAny?> freeze();
  external JSPromise<JSAny?> unfreeze();
  external JSPromise<JSAny?> pin(String model, String version);
  external JSPromise<JSAny?> unpin(String model);
  external JSPromise<JSAny?> remove();
}

/// Whether an address is safe: without `https` only where nothing leaves the device, like in JavaScript.
bool _isSafe(Uri address) =>
    (address.isScheme('https') && address.host.isNotEmpty) ||
    (address.isScheme('http') && const {'localhost', '127.0.0.1', '::1'}.contains(address.host));

final class _UpdaterSource extends PageSource {
  const _UpdaterSource(this._updater);

  final Future<_Updater> Function() _updater;

  @override
  Future<JSObject> given() async => (await _updater()).source;
}

/// The updater of a package. Its generated subclass knows the package.
abstract base class Updater {
  /// Updates `models` of `package`, of `version`, by its `module`, from the folder at `address`: with `https`,
  /// and `/` at its end.
  ///
  /// Throws ModelException `badOptions` for another address.
  Updater(
    this._package,
    this._module,
    String version,
    List<String> models,
    this._address, {
    this.options = const UpdateOptions(),
  }) : _states = {for (final each in models) each: UpdateState(UpdatePhase.unchecked, version)} {
    final folder = Uri.tryParse(_address);
    if (folder != null && _isSafe(folder) && folder.path.endsWith('/')) return;
    throw ModelException(
      ModelErrorCode.badOptions,
      '$_address is not the https address of a folder, with / at its end',
    );
  }

  final String _package;
  final String _module;
  final String _address;

  /// How it does so.
  final UpdateOptions options;

  final Map<String, UpdateState> _states;
  final StreamController<Map<String, UpdateState>> _told = StreamController.broadcast();
  Future<_Updater>? _made;

  /// For the `load` of each model of this package. It never fails for reasons of the updates.
  late final ModelSource source = _UpdaterSource(_updater);

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
    try {
      final updater = await _updater();
      await withSignal(cancellation, (signal) {
        final request = JSObject()..setProperty('force'.toJS, force.toJS);
        if (signal != null) request.setProperty('signal'.toJS, signal);
        return settled(updater.update(request));
      });
      _tell(updater.states);
    } on ModelException catch (error) {
      if (error.code == ModelErrorCode.cancelled) rethrow;
      _states.updateAll((_, state) => UpdateState(UpdatePhase.failed, state.version, reason: error.message));
      _told.add(states);
    }
    return states;
  }

  /// From now on [update] does nothing, until [unfreeze].
  Future<void> freeze() async => settled((await _updater()).freeze());

  /// Ends [freeze].
  Future<void> unfreeze() async => settled((await _updater()).unfreeze());

  /// From now on [update] takes no other `version` of a model.
  ///
  /// Throws ModelException `badOptions` for a model that this package does not have.
  Future<void> pin(String model, String version) async => settled((await _updater()).pin(model, version));

  /// Ends [pin].
  Future<void> unpin(String model) async => settled((await _updater()).unpin(model));

  /// Removes all downloads: the next load opens the app's own model. Models that are open keep working.
  Future<void> remove() async => settled((await _updater()).remove());

  /// The updater of JavaScript; after a failure, the next call tries again.
  Future<_Updater> _updater() => _made ??= _make().onError((Object error, trace) {
    _made = null;
    return Future.error(error, trace);
  });

  Future<_Updater> _make() async {
    if (_module.isEmpty) {
      throw const ModelException(ModelErrorCode.unsupported, 'this package was built without files for the web');
    }
    final module = await moduleOf(_package, _module, options.load.library);
    final make = module.getProperty<JSFunction>('ModelUpdater'.toJS);
    final made = make.callAsConstructor<_Updater>(_address.toJS, await _given());
    made.subscribe(_tell.toJS);
    return made;
  }

  Future<JSObject> _given() async {
    final given = JSObject()
      ..setProperty('fallback'.toJS, await sourceOf(options.fallback))
      ..setProperty('limitBytes'.toJS, options.storageLimit.toJS);
    final providers = options.load.providers;
    if (providers != null) {
      given.setProperty(
        'providers'.toJS,
        [
          for (final each in providers)
            if (each.facts.isOnPages) each.name.toJS,
        ].toJS,
      );
    }
    final observer = options.load.observer;
    if (observer?.onBan != null) {
      void onBan(_Ban ban) => tell(() => observer?.onBan?.call(BanEvent(ban.model, ban.version, ban.reason)));
      given.setProperty('observer'.toJS, JSObject()..setProperty('onBan'.toJS, onBan.toJS));
    }
    final conditions = options.conditions;
    if (conditions != null) {
      Future<JSObject> asked() async {
        final found = await conditions();
        return JSObject()
          ..setProperty('isUnmetered'.toJS, found.isUnmetered?.toJS)
          ..setProperty('isCharging'.toJS, found.isCharging?.toJS);
      }

      given.setProperty('conditions'.toJS, (() => asked().toJS).toJS);
    }
    final onBan = options.load.observer?.onBan;
    if (onBan != null) {
      void heard(_Ban ban) => tell(() => onBan(BanEvent(ban.model, ban.version, ban.reason)));
      given.setProperty('observer'.toJS, JSObject()..setProperty('onBan'.toJS, heard.toJS));
    }
    return given;
  }

  void _tell(JSObject found) {
    for (final name in [..._states.keys]) {
      final state = found.getProperty<_State?>(name.toJS);
      if (state == null) continue;
      _states[name] = UpdateState(
        UpdatePhase.values.firstWhere((each) => kebab(each.name) == state.phase),
        state.version,
        loadedBytes: state.loadedBytes,
        totalBytes: state.totalBytes,
        reason: state.reason,
      );
    }
    _told.add(states);
  }
}
