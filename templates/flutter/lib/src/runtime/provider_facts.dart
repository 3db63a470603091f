// How a provider is started.

/// Facts about a provider that sessions need.
final class ProviderFacts {
  /// Made by this package.
  const ProviderFacts(
    this.sessionName, {
    this.hidesNodes = false,
    this.isOnCores = false,
    this.isOnPages = false,
    this.threadsOption,
    this.cacheOption,
    this.hasFlags = false,
    this.oldestAndroid = 0,
    this.librariesVariable,
    this.isRounding = false,
    this.exact,
    this.faulty,
  });

  /// ONNX Runtime's name for it in a session: `CPUExecutionProvider`.
  final String sessionName;

  /// Whether ONNX Runtime does not record the nodes that it lays out anew for this provider.
  final bool hidesNodes;

  /// Whether the threads of a session do its work.
  final bool isOnCores;

  /// Whether pages may have it.
  final bool isOnPages;

  /// The option with the number of threads, of a provider that has threads of its own.
  final String? threadsOption;

  /// The option with a folder for what it compiles of a model.
  final String? cacheOption;

  /// Whether ONNX Runtime knows of its options only that they are set: one that the app sets to `0` is left out.
  final bool hasFlags;

  /// The first API level of Android that has it. On older ones ONNX Runtime would start it and leave all to the CPU.
  final int oldestAndroid;

  /// The environment variable with the folder of the app's native libraries on Android.
  final String? librariesVariable;

  /// Whether it rounds values between operators to 16 bits.
  final bool isRounding;

  /// An option that keeps it from rounding, and the value with which it does; an empty value is none.
  final (String, String)? exact;

  /// The start of versions of ONNX Runtime that compute wrong 16-bit floats, and the option that must be `1` for that.
  final (String, String)? faulty;
}
