// Assets of a Flutter app, asked for at the engine itself: this package depends on no other.

import 'dart:async';
import 'dart:convert';
import 'dart:typed_data';
import 'dart:ui';

/// Whether Flutter's engine runs this program.
const bool isEngine = true;

/// The bytes of an asset; null where the app has none with that key.
Future<ByteData?> loadAsset(String key) {
  final loaded = Completer<ByteData?>();
  final name = utf8.encode(Uri(path: Uri.encodeFull(key)).path);
  PlatformDispatcher.instance.sendPlatformMessage('flutter/assets', ByteData.sublistView(name), loaded.complete);
  return loaded.future;
}

/// Answer of the native half of this package on a channel; null where nobody listens.
Future<ByteData?> askPlugin(String channel) {
  final answered = Completer<ByteData?>();
  PlatformDispatcher.instance.sendPlatformMessage(channel, null, answered.complete);
  return answered.future;
}
