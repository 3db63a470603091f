// Verdicts on the providers of a model, which stay on the device: one file a model.

import 'dart:convert';
import 'dart:io';

import 'errors.dart';
import 'options.dart';
import 'storage.dart';

/// More verdicts are those of other versions and options.
const int _most = 32;

/// A verdict, or that there will be one.
final class Verdict {
  /// Nothing is decided yet.
  const Verdict(this.provider, this.file, this.device)
    : state = 'trying',
      reason = '',
      seconds = null,
      cpuSeconds = null;

  Verdict._(Verdict other, this.state, this.reason, this.seconds, this.cpuSeconds)
    : provider = other.provider,
      file = other.file,
      device = other.device;

  Verdict._of(Map<String, Object?> found)
    : provider = found['provider']! as String,
      file = found['file']! as String,
      device = found['device']! as String,
      state = found['state']! as String,
      reason = found['reason']! as String,
      seconds = found['seconds'] as double?,
      cpuSeconds = found['cpu_seconds'] as double?;

  /// ONNX Runtime's name of the provider.
  final String provider;

  /// SHA-256 of the file that it opens.
  final String file;

  /// Hash of what the verdict depends on besides: the app, the system, ONNX Runtime, the package and the options.
  final String device;

  /// `trying`, which is written before a provider is started, `proved` or `refused`.
  final String state;

  /// Why the provider is left out.
  final String reason;

  /// Seconds of its fastest run.
  final double? seconds;

  /// Seconds of the CPU's fastest run.
  final double? cpuSeconds;

  /// Whether it holds: no other process has ended at it.
  bool get isDecided => state != 'trying';

  /// Nothing is decided, for a reason.
  Verdict undecided(String reason) => Verdict._(this, state, reason, null, null);

  /// The provider is left out from now on.
  Verdict refused(String reason, [double? seconds, double? cpuSeconds]) =>
      Verdict._(this, 'refused', reason, seconds, cpuSeconds);

  /// The provider runs the model from now on.
  Verdict proved(double seconds, double cpuSeconds) => Verdict._(this, 'proved', '', seconds, cpuSeconds);

  bool _isLike(Verdict other) => provider == other.provider && file == other.file && device == other.device;

  Map<String, Object?> _toJson() => {
    'provider': provider,
    'file': file,
    'device': device,
    'state': state,
    'reason': reason,
    'seconds': ?seconds,
    'cpu_seconds': ?cpuSeconds,
  };
}

/// The verdicts on the providers of one model.
final class ProofRecord {
  ProofRecord._(this._file);

  /// Nothing is kept where the system gives no place.
  factory ProofRecord.of(String package, String model, LoadOptions options) {
    try {
      return ProofRecord._(File('${packageFolder(package, options.folder).path}/proofs/$model.json'));
    } on ModelException {
      return ProofRecord._(null);
    }
  }

  final File? _file;

  /// Does `work` while no other proof of the model is under way, in any isolate of any process. `check` ends the wait.
  Future<T> alone<T>(Future<T> Function() work, void Function() check) async {
    final file = _file;
    if (file == null) return work();
    try {
      await createUnsaved(file.parent);
    } on FileSystemException {
      return work();
    }
    return locked(File('${file.path}.lock'), work, check: check);
  }

  /// Null where nothing is known.
  Future<Verdict?> like(Verdict wanted) async => (await _read()).where(wanted._isLike).firstOrNull;

  /// Takes the place of what was known.
  Future<void> write(Verdict verdict) => _change(verdict, [verdict]);

  /// Nothing is known then.
  Future<void> remove(Verdict verdict) => _change(verdict, const []);

  Future<void> _change(Verdict verdict, List<Verdict> added) async {
    final file = _file;
    if (file == null) return;
    final all = [...(await _read()).where((each) => !verdict._isLike(each)), ...added];
    final kept = all.skip(all.length > _most ? all.length - _most : 0);
    final text = jsonEncode({
      'format': 1,
      'proofs': [for (final each in kept) each._toJson()],
    });
    try {
      await writeDurably(file, utf8.encode(text));
    } on FileSystemException {
      // The next load proves once more.
    }
  }

  /// Nothing where there is no file that can be read.
  Future<List<Verdict>> _read() async {
    try {
      final found = jsonDecode(await _file?.readAsString() ?? '{}') as Map<String, Object?>;
      if (found['format'] != 1) return const [];
      return [
        for (final each in found['proofs']! as List<Object?>) Verdict._of((each! as Map).cast<String, Object?>()),
      ];
    } on FileSystemException {
      return const [];
    } on FormatException {
      return const [];
    } on TypeError {
      return const [];
    }
  }
}
