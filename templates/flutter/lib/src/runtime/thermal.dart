// How hot the device is.

import 'dart:ffi';
import 'dart:io';

import 'heat.dart';
import 'objective_c.dart';

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
int _appleState() => numberOf(objectOf(classNamed('NSProcessInfo'), 'processInfo'), 'thermalState');
