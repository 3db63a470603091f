// Files that outlive the process: where they lie, and how they are written so that a kill leaves all of one or nothing.

import 'dart:async';
import 'dart:ffi';
import 'dart:io';
import 'dart:isolate';
import 'dart:typed_data';

import 'digest.dart';
import 'errors.dart';
import 'memory.dart';
import 'objective_c.dart';
import 'options.dart';

const int _pieceBytes = 1 << 20;
const Duration _poll = Duration(milliseconds: 20);

/// The folder of an app for files of `package` that it can get again: below `given`, or below one that the system gives to
/// the app.
///
/// Throws ModelException `unsupported` where the system says of none.
Directory packageFolder(String package, String? given) {
  final path = given ?? _ownFolder();
  if (path != null) {
    final folder = Directory('$path/$package');
    final home = Platform.environment['HOME'];
    if (given == null && home != null && _isApple) moveKept(Directory('$home/$_caches/$package'), folder);
    return folder;
  }
  throw const ModelException(
    ModelErrorCode.unsupported,
    'nothing says where this app keeps files: pass a folder, such as that of path_provider',
  );
}

String? _ownFolder() {
  final variables = Platform.environment;
  if (Platform.isAndroid) return _androidFolder();
  if (_isApple) {
    final home = variables['HOME'];
    return home == null ? null : '$home/Library/Application Support/${_program()}/mobpack';
  }
  final place = Platform.isWindows
      ? variables['LOCALAPPDATA']
      : variables['XDG_DATA_HOME'] ?? (variables.containsKey('HOME') ? '${variables['HOME']}/.local/share' : null);
  return place == null ? null : '$place/${_program()}/mobpack';
}

/// The folder of notes on files that were checked; null where there is none, or each load checks all.
String? notesOf(String package, LoadOptions options) {
  if (options.verify == Verify.always) return null;
  final path = options.folder ?? _ownFolder();
  return path == null ? null : '$path/$package/checked';
}

final bool _isApple = Platform.isIOS || Platform.isMacOS;

/// The folder of earlier packages below the home of an app: Apple's systems empty it.
final String _caches = 'Library/Caches/${_program()}/mobpack';

/// Moves what earlier packages have kept in the folder `before`, unless there is something in its place.
void moveKept(Directory before, Directory folder) {
  for (final name in const ['files', 'channels']) {
    final old = Directory('${before.path}/$name');
    final place = Directory('${folder.path}/$name');
    try {
      if (!old.existsSync() || place.existsSync()) continue;
      folder.createSync(recursive: true);
      old.renameSync(place.path);
    } on FileSystemException {
      // Files come anew.
    }
  }
}

/// Makes a folder for files that can be downloaded again: no backup takes them.
Future<void> createUnsaved(Directory folder) async {
  await folder.create(recursive: true);
  if (_isApple) excludeFromBackup(folder.path);
}

/// Apps of one user share the folders of a desktop.
String _program() => Uri.file(Platform.resolvedExecutable).pathSegments.last;

/// The folder that Android does not back up, found by the name of the process, which is that of the app.
String? _androidFolder() {
  try {
    final name = File('/proc/self/cmdline').readAsStringSync().split('\u0000').first.split(':').first;
    final user = _getuid() ~/ 100000;
    for (final place in ['/data/user/$user/$name', '/data/data/$name']) {
      if (Directory(place).existsSync()) return '$place/no_backup/mobpack';
    }
  } on FileSystemException {
    return null;
  }
  return null;
}

/// Does `work` on a file or a folder: what fails there is the fault of the device's storage.
Future<T> keeping<T>(String path, Future<T> Function() work) async {
  try {
    return await work();
  } on FileSystemException catch (error) {
    throw storageException(path, error);
  }
}

/// The words for an error of the device's storage.
ModelException storageException(String path, FileSystemException error) {
  final reason = error.osError?.message ?? error.message;
  final code = error.osError?.errorCode == _noSpace ? ModelErrorCode.noSpace : ModelErrorCode.unreadable;
  return ModelException(code, 'cannot keep $path: $reason');
}

/// Writes a file in a way that a power cut leaves all of it, or what was there before.
Future<void> writeDurably(File file, List<int> bytes) async {
  await file.parent.create(recursive: true);
  final unfinished = File('${file.path}.new');
  final open = await unfinished.open(mode: FileMode.write);
  try {
    await open.writeFrom(bytes);
    await open.flush();
  } finally {
    await open.close();
  }
  await putInPlace(unfinished, file);
}

/// Renames a file that was flushed, durably.
Future<void> putInPlace(File unfinished, File file) async {
  await unfinished.rename(file.path);
  syncFolder(file.parent);
}

/// Makes what was renamed in `folder` last.
void syncFolder(Directory folder) {
  if (Platform.isWindows) return;
  final descriptor = withArena((arena) => _open(arena.text(folder.path), _readOnly | _closeOnExec));
  if (descriptor < 0) throw FileSystemException('cannot be synchronized', folder.path);
  try {
    if (_fsync(descriptor) != 0) throw FileSystemException('cannot be synchronized', folder.path);
  } finally {
    _close(descriptor);
  }
}

/// SHA-256 of a file, in hexadecimal, made in another isolate; null for one that is not there.
Future<String?> digestOfFile(File file) {
  final path = file.path;
  return Isolate.run(() => digestOfFileHere(path));
}

/// Like [digestOfFile], in this isolate.
String? digestOfFileHere(String path) {
  final RandomAccessFile open;
  try {
    open = File(path).openSync();
  } on PathNotFoundException {
    return null;
  }
  final digest = Sha256();
  final piece = Uint8List(_pieceBytes);
  try {
    for (var count = open.readIntoSync(piece); count > 0; count = open.readIntoSync(piece)) {
      digest.add(piece, 0, count);
    }
  } finally {
    open.closeSync();
  }
  return hexOf(digest.close());
}

/// Does `work` while nobody else does what is locked by the same file: in this isolate, in others, in other processes.
Future<T> locked<T>(File lock, Future<T> Function() work, {void Function()? check}) => _alone(lock.path, () async {
  final held = await _Lock.wait(lock, check);
  try {
    return await work();
  } finally {
    await held.release();
  }
});

/// Does `work` while nobody else does what is locked by the same file; null if somebody does. What this isolate does is
/// waited for.
Future<T?> lockedOrNull<T>(File lock, Future<T> Function() work) => _alone(lock.path, () async {
  final held = await _Lock.take(lock);
  if (held == null) return null;
  try {
    return await work();
  } finally {
    await held.release();
  }
});

final Map<String, Future<void>> _turns = {};

/// Does `work` after all that was asked for under the same name, in this isolate.
Future<T> alone<T>(String name, Future<T> Function() work) => _alone(name, work);

Future<T> _alone<T>(String name, Future<T> Function() work) async {
  final before = _turns[name];
  final ended = Completer<void>();
  _turns[name] = ended.future;
  try {
    await before;
    return await work();
  } finally {
    if (identical(_turns[name], ended.future)) _turns.removeWhere((key, _) => key == name);
    ended.complete();
  }
}

/// A lock of the system, which ends with the process, and with the isolate: an app may end it at any time.
final class _Lock implements Finalizable {
  _Lock._(this._descriptor) : _file = null {
    _closing.attach(this, Pointer.fromAddress(_descriptor), detach: this);
  }

  _Lock._onWindows(RandomAccessFile this._file) : _descriptor = -1;

  static final NativeFinalizer _closing = NativeFinalizer(_library.lookup('close'));

  final int _descriptor;
  final RandomAccessFile? _file;

  /// Null where another one has it, or the file is not there.
  static _Lock? _taken(String path, int how) {
    final descriptor = withArena((arena) => _open(arena.text(path), _readOnly | _closeOnExec));
    if (descriptor < 0) return null;
    if (_flock(descriptor, how | _atOnce) == 0) return _Lock._(descriptor);
    _close(descriptor);
    return null;
  }

  static Future<_Lock> wait(File file, void Function()? check) async {
    while (true) {
      check?.call();
      final held = await take(file);
      if (held != null) return held;
      await Future<void>.delayed(_poll);
    }
  }

  /// Null where another one has it.
  static Future<_Lock?> take(File file) async {
    await file.parent.create(recursive: true);
    final open = await file.open(mode: FileMode.append);
    if (Platform.isWindows) {
      try {
        return _Lock._onWindows(await open.lock());
      } on FileSystemException {
        await open.close();
        return null;
      }
    }
    await open.close();
    // Those of dart:io are of the whole process, and would not keep isolates from each other.
    return _taken(file.path, _exclusive);
  }

  Future<void> release() async {
    final file = _file;
    if (file == null) {
      _closing.detach(this);
      _close(_descriptor);
    } else {
      await file.close();
    }
  }
}

/// A file that stays on the device as long as somebody has this, in any isolate of any process.
final class Lease {
  Lease._(this._lock);

  /// Null for a file that is not there, or is being removed.
  static Future<Lease?> of(File file) async {
    try {
      // Windows removes no file that is open.
      final lock = Platform.isWindows ? _Lock._onWindows(await file.open()) : _Lock._taken(file.path, _shared);
      if (lock == null) return null;
      if (await file.exists()) return Lease._(lock);
      await lock.release();
      return null;
    } on FileSystemException {
      return null;
    }
  }

  final _Lock _lock;

  /// Ends it.
  Future<void> end() => _lock.release();
}

/// Removes a file, unless somebody has a lease of it.
Future<void> removeUnleased(File file) async {
  if (Platform.isWindows) {
    try {
      await file.delete();
    } on FileSystemException {
      // It is open.
    }
    return;
  }
  final lock = _Lock._taken(file.path, _exclusive);
  if (lock == null) return;
  try {
    await file.delete();
  } finally {
    await lock.release();
  }
}

/// Bytes that may still be written to `folder`; null where the system does not say.
Future<int?> freeBytes(Directory folder) => keeping(folder.path, () async {
  await folder.create(recursive: true);
  return _freeBytes(folder.path);
});

int? _freeBytes(String path) => withArena((arena) {
  if (Platform.isWindows) return null;
  final room = arena.bytes(512);
  if (_statvfs(arena.text(path), room.cast()) != 0) return null;
  final values = ByteData.sublistView(room.asTypedList(512));
  // struct statvfs: f_bsize, f_frsize, f_blocks, f_bfree, f_bavail ...; the counts of Apple's have 32 bits.
  final isLong = sizeOf<IntPtr>() == 8;
  final fragment = isLong ? values.getUint64(8, Endian.host) : values.getUint32(4, Endian.host);
  final available = Platform.isIOS || Platform.isMacOS
      ? values.getUint32(24, Endian.host)
      : isLong
      ? values.getUint64(32, Endian.host)
      : values.getUint32(16, Endian.host);
  return fragment * available;
});

const int _noSpace = 28;
const int _readOnly = 0;
const int _shared = 1;
const int _exclusive = 2;
const int _atOnce = 4;
final int _closeOnExec = _isApple ? 0x1000000 : 0x80000;

final DynamicLibrary _library = DynamicLibrary.process();

final int Function(Pointer<Void> path, int flags) _open = _library
    .lookupFunction<Int Function(Pointer<Void>, Int), int Function(Pointer<Void>, int)>('open');

final int Function(int descriptor) _close = _library.lookupFunction<Int Function(Int), int Function(int)>('close');

final int Function(int descriptor) _fsync = _library.lookupFunction<Int Function(Int), int Function(int)>('fsync');

final int Function(int descriptor, int how) _flock = _library
    .lookupFunction<Int Function(Int, Int), int Function(int, int)>('flock');

final int Function() _getuid = _library.lookupFunction<Uint32 Function(), int Function()>('getuid');

final int Function(Pointer<Void> path, Pointer<Void> values) _statvfs = _library
    .lookupFunction<Int Function(Pointer<Void>, Pointer<Void>), int Function(Pointer<Void>, Pointer<Void>)>('statvfs');
