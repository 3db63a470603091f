// Assets of a program of Dart alone: none.

import 'dart:typed_data';

/// Null: there is no Flutter here.
Future<ByteData?> loadAsset(String key) async => null;

/// Null: there is no native half here.
Future<ByteData?> askPlugin(String channel) async => null;
