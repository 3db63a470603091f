// Assets of a program of Dart alone: none.

import 'dart:typed_data';

/// Whether Flutter's engine runs this program.
const bool isEngine = false;

/// Null: there is no Flutter here.
Future<ByteData?> loadAsset(String key) async => null;

/// Null: there is no native half here.
Future<ByteData?> askPlugin(String channel) async => null;
