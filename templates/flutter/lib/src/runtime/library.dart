// Where ONNX Runtime is in the app.

import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'assets_none.dart' if (dart.library.ui) 'assets_flutter.dart';
import 'errors.dart';

/// ONNX Runtime's library, as every isolate of the app opens it.
final class RuntimeLibrary {
  /// The library that the system finds under a name, or the file at a path.
  const RuntimeLibrary.named(String this.name) : address = 0;

  /// A library that is in the process already.
  const RuntimeLibrary.at(this.address) : name = null;

  /// Its name or path; null for an address.
  final String? name;

  /// Address of its function `OrtGetApiBase`; 0 for a name.
  final int address;
}

/// Finds ONNX Runtime for the package: the library that is `asked` for, else the one that the app was built with.
///
/// `onAndroid` is its name there. Throws ModelException `unsupported` where the app has none.
Future<RuntimeLibrary> findLibrary(String package, String? asked, String onAndroid) async {
  if (asked != null) return RuntimeLibrary.named(asked);
  if (Platform.isAndroid) return RuntimeLibrary.named(onAndroid);
  final linked = _linked(package);
  if (linked != 0) return RuntimeLibrary.at(linked);
  if (Platform.isIOS || Platform.isMacOS) {
    final answer = await askPlugin('mobpack/$package');
    if (answer != null) return RuntimeLibrary.at(answer.getUint64(0, Endian.little));
  }
  if (Platform.isIOS) {
    throw const ModelException(
      ModelErrorCode.unsupported,
      'the app has no ONNX Runtime: its build has left out the Swift package of this plugin, or this isolate cannot ask '
      'the plugin; load models in the main isolate',
    );
  }
  return RuntimeLibrary.named(_onDesktop());
}

/// The address of `OrtGetApiBase` where the app is linked with it, or the build hook has bundled a library; 0 elsewhere.
int _linked(String package) {
  final process = DynamicLibrary.process();
  final named = '${package}_c_onnxruntime';
  if (process.providesSymbol(named)) return process.lookupFunction<UintPtr Function(), int Function()>(named)();
  try {
    return Native.addressOf<NativeFunction<Pointer<Void> Function()>>(bundledRuntime).address;
  } on ArgumentError {
    return 0;
  }
}

/// `OrtGetApiBase` of the library that the build hook has bundled.
@Native<Pointer<Void> Function()>(symbol: 'OrtGetApiBase')
external Pointer<Void> bundledRuntime();

/// A library beside the program, else the name that the system looks for. Windows has one of its own, which is older.
String _onDesktop() {
  final folder = File(Platform.resolvedExecutable).parent.path;
  final (name, beside) = switch (Platform.operatingSystem) {
    'windows' => ('onnxruntime.dll', '$folder\\onnxruntime.dll'),
    'macos' => ('libonnxruntime.dylib', '$folder/../Frameworks/libonnxruntime.dylib'),
    _ => ('libonnxruntime.so', '$folder/lib/libonnxruntime.so'),
  };
  return File(beside).existsSync() ? beside : name;
}
