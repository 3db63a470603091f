// The folder of an updater: its record, the metadata that vouches for its files, and these files.

import 'dart:convert';
import 'dart:developer';
import 'dart:io';
import 'dart:typed_data';

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

/// Removes a file, if there is one.
Future<void> remove(File file) async {
  if (await file.exists()) await file.delete();
}

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

  /// Lets `change` edit the record, and writes it durably and whole or not at all; others wait meanwhile.
  Future<void> change(void Function(UpdateRecord record) change) => locked(_lock, () async {
    final record = await _read();
    final before = record.toJson();
    change(record);
    final text = record.toJson();
    if (text != before || !await _state.exists()) await writeDurably(_state, utf8.encode(text));
  });

  /// Version of a model that the next load opens.
  Future<String> version(String model) async {
    final active = (await record()).of(model).active;
    return active != null && active.number > delivery.trust.number ? active.version : delivery.version;
  }

  /// Changes what is kept of a model.
  Future<void> changeModel(String model, void Function(ModelRecord record) change) =>
      this.change((record) => change(record.of(model)));

  Future<UpdateRecord> _read() async {
    if (!await _state.exists()) return UpdateRecord();
    try {
      return UpdateRecord.of(utf8.decode(await _state.readAsBytes()));
    } on FormatException catch (damaged) {
      warn('${_state.path} is damaged, and moved aside: ${damaged.message}');
      await _state.rename('${_state.path}.damaged');
      final first = UpdateRecord();
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
  Future<void> forget(String name) => remove(File('${folder.path}/$name'));

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

  /// Reads files, given by their SHA-256, to their ends, and removes those that storage has damaged; true for any.
  Future<bool> removeDamaged(Iterable<String> files) async {
    var isDamaged = false;
    for (final sha256 in files) {
      if (await digestOfFile(file(sha256)) == sha256) continue;
      warn('${file(sha256).path} is damaged: it is fetched anew');
      await remove(file(sha256));
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
    for (final each in [...await _entries(files), ...await _entries(Directory('${folder.path}/$vouchers'))]) {
      if (!kept.contains(_nameOf(each).split('.').first)) await removeUnleased(each);
    }
    forgetCompiled(delivery.models.first.descriptor.package, (sha256) => file(sha256).existsSync());
  }

  /// Does `work` while nobody else updates; null if somebody does.
  Future<T?> whileUpdating<T>(Future<T> Function() work) => lockedOrNull(File('${folder.path}/update.lock'), work);

  Future<List<File>> _entries(Directory folder) async {
    if (!await folder.exists()) return const [];
    return [
      await for (final each in folder.list())
        if (each is File) each,
    ];
  }

  String _nameOf(File file) => file.uri.pathSegments.last;
}
