// Metadata of The Update Framework (TUF 1.0): which keys sign a role, what it says, and until when.

import 'dart:convert';
import 'dart:typed_data';

import '../digest.dart';
import '../envelope.dart';
import '../p256.dart';
import 'fields.dart';
import 'packaged.dart';

const List<String> _topRoles = ['root', 'timestamp', 'snapshot', 'targets'];
const int _mostDepth = 64;
final RegExp _hexadecimal = RegExp(r'^([0-9a-fA-F]{2})*$');
final RegExp _pem = RegExp(r'^-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/\s]+={0,2})\s+-----END PUBLIC KEY-----\s*$');
final RegExp _globs = RegExp(r'\*|\?|\[(!?)(\]?[^\]]*)\]|.', dotAll: true);

/// Why a channel is refused.
final class ChannelException implements Exception {
  /// With the reason.
  const ChannelException(this.message, {this.isExpired = false});

  /// For people.
  final String message;

  /// Whether metadata has expired.
  final bool isExpired;
}

/// Metadata of a role, verified.
final class Metadata {
  Metadata._(this.bytes, this.role, Fields signed)
    : version = signed.number('version'),
      _expires = timeOf(signed.text('expires')),
      published = switch (signed.optional('mobpack')) {
        null => 0,
        final about => timeOf(about.text('published')),
      },
      _files = switch (role) {
        'root' => const {},
        'timestamp' || 'snapshot' => signed.member('meta').each((it) => DescribedFile._(it, isMetadata: true)),
        _ => signed.member('targets').each((it) => DescribedFile._(it, isMetadata: false)),
      },
      _delegations = role == 'root' ? _ofRoot(signed) : _ofTargets(signed.optional('delegations')) {
    if (version == 0 || !signed.text('spec_version').startsWith('1.')) {
      throw const FormatException('it has no version, or another format');
    }
    // Their files would take the places of those of the root's roles.
    if (role != 'root' && _delegations.any((each) => _topRoles.contains(each.name.split('.').last))) {
      throw const FormatException('it delegates to a role of the root');
    }
  }

  /// Reads metadata that keys have signed which `delegator` names. A root that follows another one is signed by its own, too;
  /// without a delegator, it is the one that was shipped.
  ///
  /// Throws ChannelException for metadata that too few keys have signed, or of another package or channel.
  factory Metadata.of(Uint8List bytes, String role, Metadata? delegator, Delivery delivery) {
    try {
      final text = jsonDecode(utf8.decode(bytes));
      final signed = Fields(text).member('signed');
      signed.require({'_type': _topRoles.contains(role) ? role : 'targets'});
      signed.optional('mobpack')?.require(delivery.facts);
      final found = Metadata._(bytes, role, signed);
      if (delegator != null) {
        final message = latin1.encode(_canonical(memberOf(text, 'signed')));
        final all = Fields(text).list('signatures');
        final signatures = {for (final each in all) each.text('keyid'): each.text('sig')};
        if (signatures.length != all.length) throw const FormatException('a key has signed it twice');
        for (final each in [delegator, if (role == 'root') found]) {
          each._delegation(role).requireSigned(message, signatures);
        }
        if (role == 'root' && found.version != delegator.version + 1) {
          throw ChannelException('root ${found.version} of the channel does not follow root ${delegator.version}');
        }
      }
      return found;
    } on FormatException catch (damaged) {
      throw ChannelException('$role of the channel is refused: ${damaged.message}');
    }
  }

  /// Content of the file.
  final Uint8List bytes;

  /// Name of the role.
  final String role;

  /// Grows with each change.
  final int version;

  final int _expires;

  /// Milliseconds since 1970, as whoever has signed it had them; 0 where it does not say.
  final int published;

  final Map<String, DescribedFile> _files;
  final List<_Delegation> _delegations;

  /// Throws ChannelException when it has expired at the time `now`, in milliseconds since 1970.
  void requireFresh(int now) {
    if (now < _expires) return;
    throw ChannelException('$role $version of the channel has expired: publish it anew', isExpired: true);
  }

  /// Facts about a file that this metadata names; null for another one.
  DescribedFile? operator [](String name) => _files[name];

  /// Throws ChannelException where `next` names an older file than this metadata, or none.
  void requireNotOlder(Metadata next) => _files.forEach((name, each) {
    final version = next[name]?.version;
    if (version == null || version < each.version) {
      throw ChannelException('the channel was rolled back to ${version ?? 'no'} $name: ${each.version} was seen');
    }
  });

  /// Roles that a file is left to, the most trusted first, and whether nobody else may have it.
  (List<String> roles, bool isLast) delegations(String path) {
    final found = _delegations.where((each) => each.covers(path)).toList();
    final last = found.indexWhere((each) => each.isTerminating) + 1;
    return ([for (final each in last == 0 ? found : found.take(last)) each.name], last > 0);
  }

  /// Whether the same keys sign a role after another root.
  bool isSignedAlike(Metadata other, String role) => _delegation(role).isLike(other._delegation(role));

  _Delegation _delegation(String name) => _delegations.firstWhere(
    (each) => each.name == name,
    orElse: () => throw FormatException('${this.role} $version names no keys for it'),
  );

  static List<_Delegation> _ofRoot(Fields signed) => [
    for (final each in _topRoles) _Delegation(each, signed.member('roles').member(each), signed.member('keys')),
  ];

  static List<_Delegation> _ofTargets(Fields? found) => [
    if (found != null && found.all.contains('roles'))
      for (final each in found.list('roles')) _Delegation(each.text('name'), each, found.member('keys')),
  ];
}

/// A role that metadata lets other keys sign.
final class _Delegation {
  _Delegation(this.name, Fields found, Fields keys)
    : _threshold = found.number('threshold'),
      _keys = {for (final id in found.texts('keyids')..sort()) id: ?_keyOf(keys.optional(id))},
      isTerminating = found.all.contains('terminating') && found.flag('terminating'),
      _paths = [
        for (final each in found.textsOrNone('paths')) [...each.split('/').map(_globOf)],
      ],
      _prefixes = found.textsOrNone('path_hash_prefixes') {
    if (_threshold == 0) throw const FormatException('a threshold is 0');
  }

  final String name;
  final int _threshold;

  /// By their identities.
  final Map<String, String> _keys;

  final bool isTerminating;
  final List<List<RegExp>> _paths;
  final List<String> _prefixes;

  bool isLike(_Delegation other) => '$_threshold $_keys' == '${other._threshold} ${other._keys}';

  void requireSigned(Uint8List message, Map<String, String> signatures) {
    // A key that has two identities counts once.
    final signed = {
      for (final MapEntry(key: id, value: key) in _keys.entries)
        if (_isSignedBy(key, message, signatures[id] ?? '')) key,
    };
    if (signed.length >= _threshold) return;
    throw ChannelException(
      '$name of the channel is not to be trusted: it needs the signatures of $_threshold keys, and has ${signed.length}',
    );
  }

  bool covers(String path) {
    final parts = path.split('/');
    return _prefixes.any(hexOf(sha256Of(utf8.encode(path))).startsWith) ||
        _paths.any((each) => each.length == parts.length && each.indexed.every((it) => it.$2.hasMatch(parts[it.$1])));
  }
}

/// Facts about other metadata, or about a target, whose length and digest are known.
final class DescribedFile {
  DescribedFile._(Fields found, {required bool isMetadata})
    : version = isMetadata ? found.number('version') : 0,
      length = isMetadata && !found.all.contains('length') ? null : found.number('length'),
      sha256 = (isMetadata ? found.optional('hashes') : found.member('hashes'))?.sha256('sha256');

  /// Version of metadata; 0 for a file.
  final int version;

  /// Size in bytes; null where nobody says.
  final int? length;

  /// In hexadecimal; null where nobody says.
  final String? sha256;

  /// Whether it is this file.
  bool fits(Uint8List bytes) =>
      (length ?? bytes.length) == bytes.length && (sha256 == null || sha256 == hexOf(sha256Of(bytes)));
}

/// An ECDSA key on P-256, in hexadecimal; null for another one.
String? _keyOf(Fields? key) {
  if (key == null || key.text('keytype') != 'ecdsa' || key.text('scheme') != 'ecdsa-sha2-nistp256') return null;
  final found = _pem.firstMatch(key.member('keyval').text('public'));
  return found == null ? null : hexOf(base64.decode(found.group(1)!.replaceAll(RegExp(r'\s'), '')));
}

bool _isSignedBy(String key, Uint8List message, String signature) {
  final numbers = signatureOf(_bytesOf(signature));
  return numbers != null && isSigned(message, numbers, _bytesOf(key));
}

/// Bytes that are written in hexadecimal; none for another text.
Uint8List _bytesOf(String text) => Uint8List.fromList([
  if (_hexadecimal.hasMatch(text))
    for (var at = 0; at < text.length; at += 2) int.parse(text.substring(at, at + 2), radix: 16),
]);

/// The one form of a value of JSON that is signed (OLPC's canonical JSON), with a character for each byte of UTF-8.
String _canonical(Object? value, [int depth = _mostDepth]) => switch (value) {
  _ when depth == 0 => throw const FormatException('it is nested too deeply'),
  null || int() || bool() => '$value',
  String() => '"${_inUtf8(value).replaceAllMapped(RegExp(r'["\\]'), (each) => '\\${each[0]}')}"',
  List<Object?>() => '[${[for (final each in value) _canonical(each, depth - 1)].join(',')}]',
  Map<String, Object?>() => '{${_members(value, depth - 1).join(',')}}',
  _ => throw FormatException('$value is no whole number'),
};

Iterable<String> _members(Map<String, Object?> found, int depth) => [
  for (final name in found.keys.toList()..sort(_inOrder)) '${_canonical(name)}:${_canonical(found[name], depth)}',
];

int _inOrder(String one, String other) => _inUtf8(one).compareTo(_inUtf8(other));

String _inUtf8(String text) => latin1.decode(utf8.encode(text));

/// Milliseconds since 1970 at `2026-01-31T23:59:59Z`.
int timeOf(String text) {
  final time = RegExp(r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$').hasMatch(text) ? DateTime.tryParse(text) : null;
  // A day that no month has would be one of the next month.
  if (time == null || !time.toIso8601String().startsWith(text.substring(0, 19))) {
    throw FormatException('$text is no time');
  }
  return time.millisecondsSinceEpoch;
}

/// A pattern of names in one folder, as a shell has it.
RegExp _globOf(String pattern) {
  final text = pattern.replaceAllMapped(
    _globs,
    (each) => switch (each[0]!) {
      '*' => '.*',
      '?' => '.',
      _ when each[2] != null =>
        '[${each[1]!.isEmpty ? '' : '^'}${each[2]!.replaceAllMapped(RegExp(r'[\\\[\]^]'), (it) => '\\${it[0]}')}]',
      final one => RegExp.escape(one),
    },
  );
  return RegExp('^$text\$', dotAll: true);
}
