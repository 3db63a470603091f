// Versions of ONNX Runtime.

/// Whether a version, `1.2.3`, comes before another one.
bool isOlder(String version, String oldest) {
  final found = _numbers(version);
  final wanted = _numbers(oldest);
  for (var index = 0; index < wanted.length; index++) {
    final number = index < found.length ? found[index] : 0;
    if (number != wanted[index]) return number < wanted[index];
  }
  return false;
}

List<int> _numbers(String version) => [for (final each in version.split('.')) int.tryParse(each) ?? 0];
