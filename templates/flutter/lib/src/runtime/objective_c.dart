// Classes of Apple's systems and of the package's plugin, by their names, which release builds keep.

import 'dart:ffi';

import 'memory.dart';

final DynamicLibrary _process = DynamicLibrary.process();

typedef _Send<Result> = Result Function(Pointer<Void> receiver, Pointer<Void> selector);

/// A class; a null pointer where there is none of that name.
Pointer<Void> classNamed(String name) => _named('objc_getClass', name);

/// Calls a method without arguments that returns an object.
Pointer<Void> objectOf(Pointer<Void> receiver, String selector) =>
    _process.lookupFunction<_Send<Pointer<Void>>, _Send<Pointer<Void>>>('objc_msgSend')(receiver, _selector(selector));

/// Calls a method without arguments that returns a number.
int numberOf(Pointer<Void> receiver, String selector) =>
    _process.lookupFunction<_Send<IntPtr>, _Send<int>>('objc_msgSend')(receiver, _selector(selector));

/// Keeps the folder at a path out of backups.
void excludeFromBackup(String path) {
  final text = withArena(
    (arena) =>
        _process.lookupFunction<
          Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Pointer<Void>),
          Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Pointer<Void>)
        >('objc_msgSend')(classNamed('NSString'), _selector('stringWithUTF8String:'), arena.text(path)),
  );
  final place = _process
      .lookupFunction<
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Pointer<Void>, Bool),
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Pointer<Void>, bool)
      >('objc_msgSend')(classNamed('NSURL'), _selector('fileURLWithPath:isDirectory:'), text, true);
  final yes = _process
      .lookupFunction<
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>, Bool),
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>, bool)
      >('objc_msgSend')(classNamed('NSNumber'), _selector('numberWithBool:'), true);
  final key = _process.lookup<Pointer<Void>>('NSURLIsExcludedFromBackupKey').value;
  _process.lookupFunction<
    Bool Function(Pointer<Void>, Pointer<Void>, Pointer<Void>, Pointer<Void>, Pointer<Void>),
    bool Function(Pointer<Void>, Pointer<Void>, Pointer<Void>, Pointer<Void>, Pointer<Void>)
  >('objc_msgSend')(place, _selector('setResourceValue:forKey:error:'), yes, key, nullptr);
}

Pointer<Void> _selector(String name) => _named('sel_registerName', name);

Pointer<Void> _named(String function, String name) {
  final find = _process.lookupFunction<Pointer<Void> Function(Pointer<Void>), Pointer<Void> Function(Pointer<Void>)>(
    function,
  );
  return withArena((arena) => find(arena.text(name)));
}
