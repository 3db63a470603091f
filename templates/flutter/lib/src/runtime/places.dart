// Where the files of a package lie on the device.

import 'dart:async';
import 'dart:ffi';
import 'dart:io';
import 'dart:isolate';
import 'dart:math';
import 'dart:typed_data';

import 'assets_none.dart' if (dart.library.ui) 'assets_flutter.dart';
import 'descriptor.dart';
import 'errors.dart';
import 'memory.dart';
import 'options.dart';
import 'worker.dart';

/// Takes less than a millisecond.
const int _pieceBytes = 1 << 20;

/// Finds a file of `package`, called `reference` by what opens it.
///
/// Throws ModelException `missing`.
Future<PlacedFile> place(ModelSource source, String package, PackagedFile file, String reference) async {
  if (source case FolderSource(:final path)) {
    return PlacedFile.at(_inFolder(path, file), reference, file.sha256);
  }
  final path = await _bundled(package, file);
  if (path != null) return PlacedFile.at(path, reference, file.sha256);
  final asset = await loadAsset(_key(package, file));
  if (asset == null) throw ModelException(ModelErrorCode.missing, '${file.name} is not among the assets of the app');
  final memory = await copied(bytesOf(asset));
  return PlacedFile.inMemory(memory.address, asset.lengthInBytes, reference, file.sha256);
}

/// A copy in memory of the C library: in pieces, between which the app's isolate draws and answers.
///
/// Throws ModelException `outOfMemory`.
Future<Pointer<Uint8>> copied(Uint8List bytes) async {
  final memory = allocate(bytes.length);
  final copy = memory.asTypedList(bytes.length);
  for (var start = 0; start < bytes.length; start += _pieceBytes) {
    if (start > 0) await Zone.root.run(() => Future<void>.delayed(Duration.zero)); // clocks of tests stand still
    copy.setRange(start, min(start + _pieceBytes, bytes.length), bytes, start);
  }
  return memory;
}

/// The bytes of a file of `package`.
///
/// Throws ModelException `missing` or `unreadable`.
Future<ByteData> read(ModelSource source, String package, PackagedFile file) async {
  final path = source is FolderSource ? _inFolder(source.path, file) : await _bundled(package, file);
  if (path == null) {
    final asset = await loadAsset(_key(package, file));
    if (asset != null) return asset;
    throw ModelException(ModelErrorCode.missing, '${file.name} is not among the assets of the app');
  }
  try {
    return ByteData.sublistView(await File(path).readAsBytes());
  } on FileSystemException catch (error) {
    throw ModelException(ModelErrorCode.unreadable, '$path: ${error.osError?.message ?? error.message}');
  }
}

String _key(String package, PackagedFile file) => 'packages/$package/models/${file.name}';

String _inFolder(String folder, PackagedFile file) {
  for (final name in [file.sha256, file.name]) {
    final path = '$folder/$name';
    if (File(path).existsSync()) return path;
  }
  throw ModelException(ModelErrorCode.missing, '$folder has neither ${file.name} nor ${file.sha256}');
}

/// The folder of Flutter's assets, where an app has it as files: everywhere but on Android.
String _assetsFolder() {
  final folder = File(Platform.resolvedExecutable).parent.path;
  return switch (Platform.operatingSystem) {
    'ios' => '$folder/Frameworks/App.framework/flutter_assets',
    'macos' => '$folder/../Frameworks/App.framework/Resources/flutter_assets',
    _ => '$folder/data/flutter_assets',
  };
}

/// The path of a file beside the program, or in the package's folder; null where it can only be an asset.
Future<String?> _bundled(String package, PackagedFile file) async {
  final beside = '${_assetsFolder()}/${_key(package, file)}';
  if (File(beside).existsSync()) return beside;
  if (isEngine) return null; // it has no packages to resolve: there are assets alone
  final library = await Isolate.resolvePackageUri(Uri.parse('package:$package/$package.dart'));
  if (library == null || !library.isScheme('file')) return null;
  final path = library.resolve('../models/${file.name}').toFilePath();
  return File(path).existsSync() ? path : null;
}
