// The signed list of a package's files: only files that it vouches for are opened.

import 'dart:convert';
import 'dart:typed_data';

import 'descriptor.dart';
import 'envelope.dart';
import 'errors.dart';

const int _mostBytes = 1 << 20;
const String _payloadType = 'application/vnd.in-toto+json';
const String _statement = 'https://in-toto.io/Statement/v1';
const String _predicate = 'https://model_signing/signature/v1.0';

/// Why a file is not trusted.
enum TrustProblem {
  /// Nobody has signed the package: `mobpack sign` does that.
  unsigned,

  /// The list of the package's files is damaged, or none of the keys that this code was generated with signed it.
  wrongSignature,

  /// The signed list is that of another package, or has no such file.
  swapped,

  /// The signed list is that of an older release than this code.
  rolledBack,
}

/// A file of a model is not opened, because the signed list of the package's files does not vouch for it.
final class ModelUntrustedException extends ModelException {
  /// Made by this package: an app only catches it. Its code is `corrupted`.
  const ModelUntrustedException(this.problem, String message) : super(ModelErrorCode.corrupted, message);

  /// Kind of problem.
  final TrustProblem problem;
}

/// Keys and facts that the files of a package are verified with.
final class Trust implements ModelGuard {
  /// Takes the facts that the package was built with.
  const Trust({required this.keys, required this.package, required this.number, required this.list});

  /// Public keys: SubjectPublicKeyInfo in Base64. One, or two while one follows the other.
  final List<String> keys;

  /// Name of the package in its configuration.
  final String package;

  /// Number of the release: it grows with the version.
  final int number;

  @override
  final String list;

  @override
  GuardedFiles read(Uint8List? text) {
    if (text == null) throw _unsigned('$list is not among the assets of the app');
    if (text.length > _mostBytes) throw _wrong('it has ${text.length} bytes');
    try {
      final payload = payloadOf(utf8.decode(text), _payloadType, keys);
      return _SignedList(_digestsIn(jsonDecode(utf8.decode(payload))));
    } on EnvelopeException catch (error) {
      throw error.isUnsigned ? _unsigned('$list ${error.message}') : _wrong(error.message);
    } on FormatException catch (error) {
      throw _wrong('it is damaged: ${error.message}');
    }
  }

  Map<String, String> _digestsIn(Object? statement) {
    final predicate = memberOf(statement, 'predicate');
    final serialization = memberOf(predicate, 'serialization');
    final form = [
      memberOf(statement, '_type'),
      memberOf(statement, 'predicateType'),
      memberOf(serialization, 'method'),
      memberOf(serialization, 'hash_type'),
    ];
    final isRight = form[0] == _statement && form[1] == _predicate && form[2] == 'files' && form[3] == 'sha256';
    if (!isRight) throw _wrong('it says $form, which is no list of files');
    final subject = memberOf(statement, 'subject');
    _requireRelease(memberOf(subject is List && subject.length == 1 ? subject.single : null, 'annotations'));
    final resources = memberOf(predicate, 'resources');
    if (resources is! List<Object?>) throw _wrong('it has no files');
    final digests = <String, String>{};
    for (final each in resources) {
      final name = memberOf(each, 'name');
      final digest = memberOf(each, 'digest');
      if (name is! String || digest is! String || memberOf(each, 'algorithm') != 'sha256') {
        throw _wrong('a file has no sha256');
      }
      digests[name] = digest;
    }
    return digests;
  }

  void _requireRelease(Object? annotations) {
    final found = memberOf(annotations, 'mobpack.package');
    if (found != package) {
      throw ModelUntrustedException(
        TrustProblem.swapped,
        '$list is that of the package $found, not of $package: use the files of one package',
      );
    }
    final released = memberOf(annotations, 'mobpack.number');
    if (released is! int) throw _wrong('it has no release number');
    if (released < number) {
      throw ModelUntrustedException(
        TrustProblem.rolledBack,
        '$list is that of release ${memberOf(annotations, 'mobpack.version')}, which is older than this code: use the '
        'files that were released with it, or newer ones',
      );
    }
  }

  ModelUntrustedException _unsigned(String reason) => ModelUntrustedException(
    TrustProblem.unsigned,
    'the package is not signed: $reason. Run `mobpack sign` on the release before an app uses it',
  );

  ModelUntrustedException _wrong(String reason) =>
      ModelUntrustedException(TrustProblem.wrongSignature, '$list is not to be trusted: $reason');
}

/// The files of the package, as whoever released it has signed them: SHA-256 by name.
final class _SignedList implements GuardedFiles {
  const _SignedList(this._digests);

  final Map<String, String> _digests;

  @override
  void require(String name, String sha256, {required bool isOwn}) {
    if (isOwn ? _digests.containsValue(sha256) : _digests[name] == sha256) return;
    throw ModelUntrustedException(
      TrustProblem.swapped,
      "$name with sha256 $sha256 is not in the signed list of this package's files: use the files of one release, and "
      'sign it after its last change with `mobpack sign`',
    );
  }
}
