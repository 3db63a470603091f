// ECDSA signatures on the curve P-256 (FIPS 186-5, SP 800-186), verified. Nothing here is secret.

import 'dart:typed_data';

import 'digest.dart';

/// A signature: two numbers from 1 to the order of the curve.
typedef Signature = (BigInt r, BigInt s);

const int _numberBytes = 32;
const int _pointBytes = 1 + 2 * _numberBytes;

/// Beginning of a public key on this curve, before its point, as a SubjectPublicKeyInfo in DER (RFC 5480).
const List<int> _keyStart = [
  0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, //
  0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

final BigInt _prime = _number('ffffffff00000001000000000000000000000000ffffffffffffffffffffffff');
final BigInt _order = _number('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
final BigInt _b = _number('5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b');
final _Point _base = _Point(
  _number('6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'),
  _number('4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5'),
  BigInt.one,
);
final BigInt _three = BigInt.from(3);

BigInt _number(String digits) => BigInt.parse(digits, radix: 16);

/// Whether the owner of `key`, a SubjectPublicKeyInfo in DER, has signed the SHA-256 of `message`.
bool isSigned(Uint8List message, Signature signature, Uint8List key) {
  final (r, s) = signature;
  final point = _pointOf(key);
  if (point == null || !_isScalar(r) || !_isScalar(s)) return false;
  final hash = _numberOf(sha256Of(message));
  final inverse = s.modInverse(_order);
  final sum = _sumOfProducts(hash * inverse % _order, r * inverse % _order, point);
  if (sum.z == BigInt.zero) return false;
  // x is X / Z^2.
  return sum.x * (sum.z * sum.z % _prime).modInverse(_prime) % _prime % _order == r;
}

/// A signature in DER (X.690): one form for one signature, which not every implementation insists on; null for another.
Signature? signatureOf(Uint8List bytes) {
  if (bytes.length < 2 || bytes.length > 127 || bytes[0] != 0x30 || bytes[1] != bytes.length - 2) return null;
  final second = _endOfNumber(bytes, 2);
  if (second == null || _endOfNumber(bytes, second) != bytes.length) return null;
  return (_numberOf(Uint8List.sublistView(bytes, 4, second)), _numberOf(Uint8List.sublistView(bytes, second + 2)));
}

/// Where the positive number at `start` ends; null for anything else.
int? _endOfNumber(Uint8List bytes, int start) {
  if (start + 2 >= bytes.length || bytes[start] != 2) return null;
  final length = bytes[start + 1];
  final end = start + 2 + length;
  if (length < 1 || end > bytes.length || bytes[start + 2] >= 128) return null;
  final isPadded = bytes[start + 2] == 0;
  final isRight = isPadded
      ? length >= 2 && length <= _numberBytes + 1 && bytes[start + 3] >= 128
      : length <= _numberBytes;
  return isRight ? end : null;
}

bool _isScalar(BigInt number) => number > BigInt.zero && number < _order;

BigInt _numberOf(Uint8List bytes) => bytes.fold(BigInt.zero, (number, byte) => (number << 8) | BigInt.from(byte));

/// The point of a key; null for one that is not on the curve.
_Point? _pointOf(Uint8List key) {
  if (key.length != _keyStart.length + _pointBytes) return null;
  for (final (index, byte) in [..._keyStart, 4].indexed) {
    if (key[index] != byte) return null;
  }
  final numbers = Uint8List.sublistView(key, _keyStart.length + 1);
  final x = _numberOf(Uint8List.sublistView(numbers, 0, _numberBytes));
  final y = _numberOf(Uint8List.sublistView(numbers, _numberBytes));
  final isOnCurve = x < _prime && y < _prime && (x * x * x - _three * x + _b - y * y) % _prime == BigInt.zero;
  return isOnCurve ? _Point(x, y, BigInt.one) : null;
}

/// `first` times the base point and `second` times a point, added up.
_Point _sumOfProducts(BigInt first, BigInt second, _Point point) {
  final both = _base.plus(point);
  var sum = _Point.none;
  for (var bit = _order.bitLength - 1; bit >= 0; bit--) {
    sum = sum.doubled();
    final isFirst = (first >> bit).isOdd;
    final isSecond = (second >> bit).isOdd;
    if (isFirst || isSecond) {
      sum = sum.plus(
        isFirst && isSecond
            ? both
            : isFirst
            ? _base
            : point,
      );
    }
  }
  return sum;
}

/// A point (X / Z^2, Y / Z^3); Z is 0 at infinity.
final class _Point {
  const _Point(this.x, this.y, this.z);

  static final _Point none = _Point(BigInt.one, BigInt.one, BigInt.zero);

  final BigInt x;
  final BigInt y;
  final BigInt z;

  /// "dbl-2001-b" of the Explicit-Formulas Database, for curves with a = -3.
  _Point doubled() {
    final delta = z * z % _prime;
    final gamma = y * y % _prime;
    final beta = x * gamma % _prime;
    final alpha = _three * (x - delta) * (x + delta) % _prime;
    final newX = (alpha * alpha - (beta << 3)) % _prime;
    final sum = y + z;
    final newZ = (sum * sum - gamma - delta) % _prime;
    final newY = (alpha * ((beta << 2) - newX) - (gamma * gamma << 3)) % _prime;
    return _Point(newX, newY, newZ);
  }

  /// "add-1998-cmo-2" of the same.
  _Point plus(_Point other) {
    if (z == BigInt.zero) return other;
    if (other.z == BigInt.zero) return this;
    final square = z * z % _prime;
    final otherSquare = other.z * other.z % _prime;
    final u = x * otherSquare % _prime;
    final s = y * otherSquare * other.z % _prime;
    final h = (other.x * square - u) % _prime;
    final r = (other.y * square * z - s) % _prime;
    if (h == BigInt.zero) return r == BigInt.zero ? doubled() : none;
    final hh = h * h % _prime;
    final hhh = h * hh % _prime;
    final v = u * hh % _prime;
    final newX = (r * r - hhh - (v << 1)) % _prime;
    return _Point(newX, (r * (v - newX) - s * hhh) % _prime, z * other.z * h % _prime);
  }
}
