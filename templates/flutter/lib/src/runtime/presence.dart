// Whether somebody sees the app, and which start of the app it is.

import 'dart:ffi';
import 'dart:io';
import 'dart:math';

import 'objective_c.dart';
import 'system.dart';

/// PERCEPTIBLE_LOW_APP_ADJ of Android's ProcessList: processes above it do what nobody would miss at once.
const int _missed = 250;

/// UIApplicationStateBackground.
const int _background = 2;

/// Whether the app is in the background, where Android and iOS suspend or end it at any time. False elsewhere.
///
/// iOS answers its main thread alone, which the main isolate runs on: false in others.
bool isAppLeft() {
  if (Platform.isAndroid) return _importance() > _missed;
  if (!Platform.isIOS || !_isMainThread()) return false;
  return numberOf(objectOf(classNamed('UIApplication'), 'sharedApplication'), 'applicationState') == _background;
}

bool _isMainThread() =>
    DynamicLibrary.process().lookupFunction<Int Function(), int Function()>('pthread_main_np')() != 0;

/// Android's number for how soon it ends the process: 0 for the app that is seen.
int _importance() {
  try {
    return int.tryParse(File('/proc/self/oom_score_adj').readAsStringSync().trim()) ?? 0;
  } on FileSystemException {
    return 0;
  }
}

/// Names this start of the app: the same in all isolates of the process, whenever they begin.
final String thisStart = _thisStart();

String _thisStart() {
  // A program that this one starts has the variable, and another number.
  final name = 'MOBPACK_START_$pid';
  setVariable(name, Random.secure().nextInt(1 << 32).toRadixString(16));
  return variable(name);
}
