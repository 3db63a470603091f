// The folder of an updater: its record, the metadata that vouches for its files, and these files.

import 'dart:convert';
import 'dart:developer';
import 'dart:io';
import 'dart:typed_data';

import '../descriptor.dart';
import '../digest.dart';
import '../download.dart';
import '../starting.dart';
import '../storage.dart';
import 'packaged.dart';
import 'record.dart';
import 'releases.dart';

/// Name of the folder of what vouches for kept releases.
const String vouchers = 'vouchers';

/// Writes to the log of the app.
void warn(String message) => log(message, name: 'ModelUpdater', level: 900);

/// One for each package and channel.
final class UpdateStore {
  /// In a folder of the package.
  UpdateStore(this.delivery, Directory package) : folder = Directory('${package.path}/channels/${delivery.channel}');

  /// Whose models it has.
  final Delivery delivery;

  /// Folder of the updater.
  final Directory folder;

  /// The target whose files this platform opens.
  String get target {
    final own = Platform.isIOS || Platform.isMacOS ? 'ios' : 'android';
    return delivery.runtimes.containsKey(own) ? own : delivery.runtimes.keys.first;
  }

  File get _state => File('${folder.path}/state.json');

  File get _lock => File('${folder.path}/lock');

  /// Folder of files, each under its SHA-256, and their parts so far under this with `.part` behind it.
  Directory get files => Directory('${folder.path}/files');

  /// The record that was written last. A damaged one is moved aside.
  Future<UpdateRecord> record() => locked(_lock, _read);

  /// Writes what `change` makes of the record, durably and whole or not at all; others wait meanwhile.
  Future<UpdateRecord> change(UpdateRecord Function(UpdateRecord record) change) => locked(_lock, () async {
    final before = await _read();
    final after = change(before);
    final text = after.toJson();
    if (text != before.toJson() || !await _state.exists()) await writeDurably(_state, utf8.encode(text));
    return after;
  });

  /// Changes what is kept of a model.
  Future<void> changeModel(String model, ModelRecord Function(ModelRecord record) change) =>
      this.change((record) => record.copy(models: {...record.models, model: change(record.of(model))}));

  Future<UpdateRecord> _read() async {
    if (!await _state.exists()) return UpdateRecord.first();
    try {
      return UpdateRecord.of(utf8.decode(await _state.readAsBytes()));
    } on FormatException catch (damaged) {
      warn('${_state.path} is damaged, and moved aside: ${damaged.message}');
      await _state.rename('${_state.path}.damaged');
      final first = UpdateRecord.first();
      await writeDurably(_state, utf8.encode(first.toJson()));
      return first;
    }
  }

  /// Null for what is not there, or cannot be read.
  Uint8List? read(String name) {
    try {
      return File('${folder.path}/$name').readAsBytesSync();
    } on FileSystemException {
      return null;
    }
  }

  /// Writes durably.
  Future<void> keep(String name, Uint8List bytes) => writeDurably(File('${folder.path}/$name'), bytes);

  /// Removes what is there.
  Future<void> forget(String name) async {
    final file = File('${folder.path}/$name');
    if (await file.exists()) await file.delete();
  }

  /// Keeps what vouches for a release: its SHA-256, which is its name.
  Future<String> vouch(Uint8List voucher) async {
    final sha256 = hexOf(sha256Of(voucher));
    if (read('$vouchers/$sha256.json') == null) await keep('$vouchers/$sha256.json', voucher);
    return sha256;
  }

  /// Where a file lies, or would lie.
  File file(String sha256) => File('${files.path}/$sha256');

  /// Whether there is a file of the right size. That it has the right bytes is checked where it is opened.
  bool has(Blob blob) => hasFile(blob.sha256, blob.sizeBytes);

  /// Like [has].
  bool hasFile(String sha256, int sizeBytes) {
    final found = file(sha256).statSync();
    return found.type == FileSystemEntityType.file && found.size == sizeBytes;
  }

  /// A file of this folder as a model has it, called `name`.
  PackagedFile packaged(Blob blob, String name) => PackagedFile(name, blob.sha256, blob.sizeBytes);

  /// Reads files, given by their SHA-256, to their ends, and removes those that storage has damaged; true for any.
  Future<bool> removeDamaged(Iterable<String> files) async {
    var isDamaged = false;
    for (final sha256 in files) {
      if (await digestOfFile(file(sha256)) == sha256) continue;
      warn('${file(sha256).path} is damaged: it is fetched anew');
      if (await file(sha256).exists()) await file(sha256).delete();
      isDamaged = true;
    }
    return isDamaged;
  }

  /// Bytes of all files but those that may be removed.
  Future<int> keptBytes(bool Function(String name) isRemovable) async {
    var sum = 0;
    for (final each in await _entries(files)) {
      if (!isRemovable(_nameOf(each))) sum += await sizeOf(each);
    }
    return sum;
  }

  /// Removes what `record` does not name, but for `wanted` files and those of models that are open.
  Future<void> prune(UpdateRecord record, {Set<String> wanted = const {}}) async {
    final kept = {...record.files, ...wanted};
    for (final each in await _entries(files)) {
      if (!kept.contains(_nameOf(each).split('.').first)) await removeUnleased(each);
    }
    final packages = {for (final each in delivery.models) each.descriptor.package};
    packages.forEach(_forgetCompiled);
    for (final each in await _entries(Directory('${folder.path}/$vouchers'))) {
      if (!record.vouchers.contains(_nameOf(each).split('.').first)) await each.delete();
    }
  }

  /// Does `work` while nobody else updates; null if somebody does.
  Future<T?> whileUpdating<T>(Future<T> Function() work) => lockedOrNull(File('${folder.path}/update.lock'), work);

  void _forgetCompiled(String package) => forgetCompiled(package, (sha256) => file(sha256).existsSync());

  Future<List<File>> _entries(Directory folder) async {
    if (!await folder.exists()) return const [];
    return [
      await for (final each in folder.list())
        if (each is File) each,
    ];
  }

  String _nameOf(File file) => file.uri.pathSegments.last;
}
