// How hot the device is.

import 'dart:ffi';
import 'dart:io';

import 'heat.dart';
import 'memory.dart';

/// Android's THERMAL_STATUS_LIGHT, up to which a device is cool, and THERMAL_STATUS_SEVERE, from which on it is hot.
const int _light = 1;
const int _severe = 3;

/// The same of NSProcessInfo: NSProcessInfoThermalStateNominal and NSProcessInfoThermalStateSerious.
const int _nominal = 0;
const int _serious = 2;

/// How long an answer holds: each one is a call of another process on Android.
const Duration _holds = Duration(seconds: 1);

final Stopwatch _age = Stopwatch();
Warmth _last = Warmth.cool;

/// How hot the device is: Android 11 and later, and Apple's systems say so. Cool elsewhere.
Warmth warmth() {
  if (_age.isRunning && _age.elapsed < _holds) return _last;
  _age
    ..reset()
    ..start();
  return _last = _asked();
}

Warmth _asked() {
  try {
    if (Platform.isAndroid) return _between(_androidStatus(), _light, _severe);
    if (Platform.isIOS || Platform.isMacOS) return _between(_appleState(), _nominal, _serious);
  } on ArgumentError {
    // Android 10 has no such functions.
  }
  return Warmth.cool;
}

Warmth _between(int level, int cool, int hot) => level >= hot ? Warmth.hot : (level > cool ? Warmth.warm : Warmth.cool);

int _androidStatus() {
  final android = DynamicLibrary.open('libandroid.so');
  final acquire = android.lookupFunction<Pointer<Void> Function(), Pointer<Void> Function()>('AThermal_acquireManager');
  final release = android.lookupFunction<Void Function(Pointer<Void>), void Function(Pointer<Void>)>(
    'AThermal_releaseManager',
  );
  final status = android.lookupFunction<Int32 Function(Pointer<Void>), int Function(Pointer<Void>)>(
    'AThermal_getCurrentThermalStatus',
  );
  final manager = acquire();
  if (manager == nullptr) return 0;
  try {
    return status(manager);
  } finally {
    release(manager);
  }
}

/// `[[NSProcessInfo processInfo] thermalState]`
int _appleState() {
  final objc = DynamicLibrary.process();
  Pointer<Void> named(String function, String name) {
    final find = objc.lookupFunction<Pointer<Void> Function(Pointer<Void>), Pointer<Void> Function(Pointer<Void>)>(
      function,
    );
    return withArena((arena) => find(arena.text(name)));
  }

  const send = 'objc_msgSend';
  final object = objc
      .lookupFunction<
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>),
        Pointer<Void> Function(Pointer<Void>, Pointer<Void>)
      >(send);
  final number = objc
      .lookupFunction<IntPtr Function(Pointer<Void>, Pointer<Void>), int Function(Pointer<Void>, Pointer<Void>)>(send);
  final info = object(named('objc_getClass', 'NSProcessInfo'), named('sel_registerName', 'processInfo'));
  return number(info, named('sel_registerName', 'thermalState'));
}
