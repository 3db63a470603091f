// Signed texts: a DSSE envelope (1.0) in a bundle of Sigstore's.

import 'dart:convert';
import 'dart:typed_data';

import 'p256.dart';

/// Why an envelope is not trusted.
final class EnvelopeException implements Exception {
  /// Takes the problem of an envelope without a signature, or with a wrong one.
  const EnvelopeException(this.message, {this.isUnsigned = false});

  /// For people, without a subject.
  final String message;

  /// Whether it has no signature at all.
  final bool isUnsigned;
}

/// The signed payload of `bundle`, once one of `keys` has vouched for it: SubjectPublicKeyInfo in Base64.
///
/// Throws EnvelopeException when none has, or when it is of another `type`; FormatException for a text that is no bundle.
Uint8List payloadOf(String bundle, String type, List<String> keys) {
  final envelope = memberOf(jsonDecode(bundle), 'dsseEnvelope');
  final signatures = memberOf(envelope, 'signatures');
  if (signatures is List && signatures.isEmpty) {
    throw const EnvelopeException('has no signature', isUnsigned: true);
  }
  if (signatures is! List || signatures.length != 1) throw const FormatException('it has no single signature');
  final signature = _bytesOf(memberOf(signatures.single, 'sig'));
  final payload = _bytesOf(memberOf(envelope, 'payload'));
  final found = memberOf(envelope, 'payloadType');
  if (found != type) throw EnvelopeException('its payload is $found');
  final start = ascii.encode('DSSEv1 ${type.length} $type ${payload.length} ');
  final message = Uint8List(start.length + payload.length)
    ..setAll(0, start)
    ..setAll(start.length, payload);
  final numbers = signatureOf(signature);
  if (numbers == null || !keys.any((key) => isSigned(message, numbers, base64.decode(key)))) {
    throw const EnvelopeException(
      'no key that this app was built with has signed it: sign with the private key of [package] trust',
    );
  }
  return payload;
}

/// A member of an object of JSON; null for anything else.
Object? memberOf(Object? found, String name) => found is Map<String, Object?> ? found[name] : null;

Uint8List _bytesOf(Object? text) {
  if (text is! String || text.contains('%') || text.contains('-') || text.contains('_')) {
    throw const FormatException('no Base64');
  }
  return base64.decode(text);
}
