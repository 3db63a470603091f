// The system that the app runs on: the package's files for it, and what providers ask of it.

import 'dart:ffi';
import 'dart:io';

import 'descriptor.dart';
import 'errors.dart';
import 'memory.dart';
import 'options.dart';

const int _longestProperty = 92;

/// The bytes of each name in C's `utsname`, the place of the machine's name among them, and how many there are at most.
const int _nameBytes = 256;
const int _nameBytesOnLinux = 65;
const int _machine = 4;
const int _names = 6;

/// The platform whose files this system opens; null of a desktop that opens those of any.
String? get platform =>
    Platform.isMacOS ? 'ios' : (Platform.isAndroid || Platform.isIOS ? Platform.operatingSystem : null);

/// The files of a model for this system, and the providers that may run them.
///
/// Desktops without files of their own run those of the CPU of another platform. Throws ModelException `unsupported` for a
/// phone that the package was not built for.
PlatformSetup setupOf(ModelDescriptor descriptor) {
  final name = platform;
  final own = descriptor.setups[name];
  if (own != null) return own;
  if (Platform.isAndroid || Platform.isIOS) {
    throw ModelException(
      ModelErrorCode.unsupported,
      'this package was built for ${descriptor.setups.keys.join(' and ')}, not $name',
    );
  }
  final other = descriptor.setups.values.first;
  final files = other.files.where((each) => each.providers.contains(Provider.cpu)).toList();
  return PlatformSetup(oldestRuntime: other.oldestRuntime, providers: const [], files: files);
}

/// A property of Android; empty elsewhere, and where it is not set.
String androidProperty(String name) {
  if (!Platform.isAndroid) return '';
  final get = DynamicLibrary.process()
      .lookupFunction<Int Function(Pointer<Void>, Pointer<Void>), int Function(Pointer<Void>, Pointer<Void>)>(
        '__system_property_get',
      );
  return withArena((arena) {
    final value = arena.bytes(_longestProperty).cast<Void>();
    get(arena.text(name), value);
    return textAt(value);
  });
}

/// The chip on Android 12 and later, `SM8650`; the device's identifier on Apple's phones, `iPhone17,1`; the architecture
/// on other systems, and nothing on Windows.
String chipName() {
  if (Platform.isAndroid) return androidProperty('ro.soc.model');
  if (Platform.isWindows) return '';
  final ask = DynamicLibrary.process().lookupFunction<Int Function(Pointer<Void>), int Function(Pointer<Void>)>(
    'uname',
  );
  final bytes = Platform.isLinux ? _nameBytesOnLinux : _nameBytes;
  return withArena((arena) {
    final names = arena.bytes(_names * bytes);
    return ask(names.cast()) < 0 ? '' : textAt((names + _machine * bytes).cast());
  });
}

/// Sets a variable of the process that the app has not set itself.
void setVariable(String name, String value) {
  if (Platform.isWindows) return _setVariableOnWindows(name, value);
  final set = DynamicLibrary.process()
      .lookupFunction<Int Function(Pointer<Void>, Pointer<Void>, Int), int Function(Pointer<Void>, Pointer<Void>, int)>(
        'setenv',
      );
  withArena((arena) => set(arena.text(name), arena.text(value), 0));
}

/// A variable of the process; empty where it is not set.
String variable(String name) {
  final library = Platform.isWindows ? DynamicLibrary.open('ucrtbase.dll') : DynamicLibrary.process();
  final get = library.lookupFunction<Pointer<Void> Function(Pointer<Void>), Pointer<Void> Function(Pointer<Void>)>(
    'getenv',
  );
  final found = withArena((arena) => get(arena.text(name)));
  return found == nullptr ? '' : textAt(found);
}

void _setVariableOnWindows(String name, String value) {
  if (Platform.environment.containsKey(name)) return;
  final set = DynamicLibrary.open(
    'ucrtbase.dll',
  ).lookupFunction<Int Function(Pointer<Void>, Pointer<Void>), int Function(Pointer<Void>, Pointer<Void>)>('_putenv_s');
  withArena((arena) => set(arena.text(name), arena.text(value)));
}

/// The folder of a library that is loaded; null where it lies in the app's archive.
String? folderOfLoaded(String library) {
  for (final line in File('/proc/self/maps').readAsLinesSync()) {
    if (line.endsWith('/$library')) return File(line.substring(line.indexOf('/'))).parent.path;
  }
  return null;
}

/// A folder among the caches of the app; null where there are none.
Directory? cacheFolder(List<String> parts) {
  final home = Platform.environment['HOME'];
  if (home == null) return null;
  final app = File(Platform.resolvedExecutable).uri.pathSegments.last;
  return Directory(['$home/Library/Caches', app, 'mobpack', ...parts].join('/'));
}
