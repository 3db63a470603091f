// The files of a model from one source.

import 'dart:typed_data';

import 'cancellation.dart';
import 'descriptor.dart';
import 'downloads.dart';
import 'errors.dart';
import 'options.dart';
import 'places.dart' as places;
import 'worker.dart';

/// Where a load gets the files of its model.
abstract base class ModelFiles {
  /// For classes that know a source.
  const ModelFiles();

  /// Names the source.
  SourceKind get kind;

  /// Gets files onto the device.
  Future<void> fetch(List<PackagedFile> files) async {}

  /// Finds a file, called `reference` by what opens it.
  ///
  /// Throws ModelException `missing`, and what [fetch] throws.
  Future<PlacedFile> place(PackagedFile file, String reference);

  /// The bytes of a file.
  ///
  /// Throws ModelException `missing` or `unreadable`, and what [fetch] throws.
  Future<ByteData> read(PackagedFile file);

  /// A file of the app's own, in place of the model's.
  Future<PlacedFile> own(PathSource source) async =>
      PlacedFile.at(source.path, source.path, source.sha256?.toLowerCase());

  /// Whether files that the device has in part, or with other bytes, were got anew.
  Future<bool> repair(List<PackagedFile> files) async => false;

  /// The model is open. What is downloaded later, when it is opened again, is ended by `ending` and told to nobody.
  void opened(Cancellation ending) {}

  /// The model is not opened again.
  Future<void> close() async {}
}

/// The files of a package from the source that a load was given.
ModelFiles filesOf(String package, LoadOptions options) => switch (options.source) {
  final UrlSource source => Downloads(source, package, options),
  final source => _Local(source, package),
};

/// Files that are on the device.
final class _Local extends ModelFiles {
  const _Local(this._source, this._package);

  final ModelSource _source;
  final String _package;

  @override
  SourceKind get kind => kindOf(_source);

  @override
  Future<PlacedFile> place(PackagedFile file, String reference) => places.place(_source, _package, file, reference);

  @override
  Future<ByteData> read(PackagedFile file) => places.read(_source, _package, file);
}

/// The bytes of a file of the package itself; null where it has none of that name.
Future<Uint8List?> readBundled(String package, String name) async {
  try {
    final bytes = await places.read(const ModelSource.bundled(), package, PackagedFile(name, '', 0));
    return Uint8List.sublistView(bytes);
  } on ModelException catch (error) {
    if (error.code == ModelErrorCode.missing) return null;
    rethrow;
  }
}
