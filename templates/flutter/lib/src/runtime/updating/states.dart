// How far updates are, and what an app decides of them.

import 'dart:async';

import '../options.dart';

/// Present or last action of an updater on a model.
enum UpdatePhase {
  /// Nobody has asked for updates since the app was started.
  unchecked,

  /// The channel has nothing newer for this device.
  upToDate,

  /// The metadata of the channel is fetched.
  checking,

  /// There is an update, and the device, or the time since the last failure, does not allow it yet.
  waiting,

  /// Files are on their way.
  downloading,

  /// A file is made of the one that the device has.
  patching,

  /// The new model is opened, and runs on its samples.
  trying,

  /// The next load opens the new model.
  ready,

  /// Nothing has changed; the reason says why.
  failed,

  /// Metadata of the channel is too old: whoever publishes the channel has to renew it.
  expired,

  /// The app has frozen the updates.
  frozen,
}

/// How far the update of a model is.
final class UpdateState {
  /// Made by this package.
  const UpdateState(this.phase, this.version, {this.loadedBytes = 0, this.totalBytes = 0, this.reason = ''});

  /// The last that was done.
  final UpdatePhase phase;

  /// Version of the model that the next load opens.
  final String version;

  /// Bytes of the download that have arrived.
  final int loadedBytes;

  /// Size of the download; 0 where there is none.
  final int totalBytes;

  /// Why it is so; empty where nothing is to be said.
  final String reason;

  @override
  String toString() => '${phase.name} $version${reason.isEmpty ? '' : ': $reason'}';
}

/// The state of the device, which releases may ask for. Null where nobody knows: then it does not count as met.
final class DeviceConditions {
  /// Takes what an app knows from plugins such as connectivity_plus and battery_plus.
  const DeviceConditions({this.isUnmetered, this.isCharging});

  /// Whether the network costs nothing, as Wi-Fi does in most places.
  final bool? isUnmetered;

  /// Whether the device is being charged.
  final bool? isCharging;
}

/// Options of an updater. Omitted options have the package's defaults.
final class UpdateOptions {
  /// Takes options, each of which has a default.
  const UpdateOptions({
    this.fallback = const ModelSource.bundled(),
    this.load = const LoadOptions(),
    this.storageLimit = 1 << 30,
    this.conditions,
    this.folder,
  });

  /// Where a model comes from that has no update, or whose update cannot be opened.
  final ModelSource fallback;

  /// How new models are tried: the providers, whose files are downloaded besides those of the CPU, and the library. Load
  /// with no other providers.
  final LoadOptions load;

  /// Bytes that all downloads together may take on the device.
  final int storageLimit;

  /// The state of the device; null where the app does not say.
  final FutureOr<DeviceConditions> Function()? conditions;

  /// The folder of the updates; null for one of the app's that the system does not back up, or may empty.
  final String? folder;
}
