// SHA-256 (FIPS 180-4) of bytes that come one after the other.

import 'dart:typed_data';

const int _blockBytes = 64;

/// A digest that grows with the bytes that are added to it.
final class Sha256 {
  final Uint32List _hash = Uint32List.fromList(_start);
  final Uint32List _words = Uint32List(64);
  final Uint8List _rest = Uint8List(_blockBytes);
  int _restBytes = 0;
  int _size = 0;

  /// Adds the bytes from `start` to `end`.
  void add(Uint8List bytes, [int start = 0, int? end]) {
    final stop = end ?? bytes.length;
    var at = start;
    _size += stop - start;
    if (_restBytes > 0) {
      final missing = _blockBytes - _restBytes;
      final taken = stop - at < missing ? stop - at : missing;
      _rest.setRange(_restBytes, _restBytes + taken, bytes, at);
      _restBytes += taken;
      at += taken;
      if (_restBytes < _blockBytes) return;
      _addBlock(_hash, _words, _rest, 0);
      _restBytes = 0;
    }
    for (; at + _blockBytes <= stop; at += _blockBytes) {
      _addBlock(_hash, _words, bytes, at);
    }
    _rest.setRange(0, stop - at, bytes, at);
    _restBytes = stop - at;
  }

  /// The 32 bytes of the digest. Nothing can be added afterwards.
  Uint8List close() {
    final size = _size;
    final last = Uint8List(_restBytes < 56 ? _blockBytes - _restBytes : 2 * _blockBytes - _restBytes);
    last[0] = 0x80;
    // In two halves: JavaScript has no 64-bit integers.
    ByteData.sublistView(last)
      ..setUint32(last.length - 8, size ~/ 0x20000000)
      ..setUint32(last.length - 4, (size << 3) & _mask);
    add(last);
    final digest = ByteData(32);
    for (var index = 0; index < 8; index++) {
      digest.setUint32(4 * index, _hash[index]);
    }
    return digest.buffer.asUint8List();
  }
}

/// The digest of bytes that are all there.
Uint8List sha256Of(Uint8List bytes) => (Sha256()..add(bytes)).close();

/// Bytes in hexadecimal.
String hexOf(Uint8List bytes) => [for (final byte in bytes) byte.toRadixString(16).padLeft(2, '0')].join();

void _addBlock(Uint32List hash, Uint32List w, Uint8List bytes, int at) {
  for (var i = 0, j = at; i < 16; i++, j += 4) {
    w[i] = bytes[j] << 24 | bytes[j + 1] << 16 | bytes[j + 2] << 8 | bytes[j + 3];
  }
  for (var i = 16; i < 64; i++) {
    final x = w[i - 15];
    final y = w[i - 2];
    final s0 = (x >> 7 | x << 25) ^ (x >> 18 | x << 14) ^ x >> 3;
    final s1 = (y >> 17 | y << 15) ^ (y >> 19 | y << 13) ^ y >> 10;
    w[i] = w[i - 16] + (s0 & _mask) + w[i - 7] + (s1 & _mask);
  }
  var a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (var i = 0; i < 64; i++) {
    final s1 = ((e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)) & _mask;
    final t1 = h + s1 + ((e & f) ^ (~e & g)) + _constants[i] + w[i];
    final s0 = ((a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)) & _mask;
    final t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + t1) & _mask;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) & _mask;
  }
  hash[0] += a;
  hash[1] += b;
  hash[2] += c;
  hash[3] += d;
  hash[4] += e;
  hash[5] += f;
  hash[6] += g;
  hash[7] += h;
}

const int _mask = 0xffffffff;

final Uint32List _start = Uint32List.fromList(const [
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
]);

final Uint32List _constants = Uint32List.fromList(const [
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
]);
