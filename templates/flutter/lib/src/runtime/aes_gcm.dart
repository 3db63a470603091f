// AES-256 in Galois/Counter Mode (FIPS 197, SP 800-38D), decryption alone.

import 'dart:typed_data';

const int _rounds = 14;
const int _blockBytes = 16;
const int _nonceBytes = 12;

/// Bytes of a tag.
const int tagBytes = 16;

/// A key for many texts.
final class AesGcm {
  /// Takes a key of 32 bytes.
  AesGcm(Uint8List key) : _keys = _expanded(key) {
    final zero = Uint32List(4);
    _encrypt(zero, zero);
    _fillTable(zero);
  }

  final Uint32List _keys;

  /// The products of the hash key and all bytes, four words each.
  final Uint32List _products = Uint32List(4 * 256);

  final Uint32List _counter = Uint32List(4);
  final Uint32List _stream = Uint32List(4);
  final Uint32List _hash = Uint32List(4);

  /// Decrypts `sealed`, a text with its tag behind it, to `plain`; false, and nothing of use there, if it is not what was
  /// encrypted with this key, the `nonce` of 12 bytes and the `associated` data.
  bool open(Uint8List sealed, Uint8List plain, {required Uint8List nonce, required Uint8List associated}) {
    final size = sealed.length - tagBytes;
    final text = Uint8List.sublistView(sealed, 0, size);
    if (!_isRight(sealed, size, text, nonce, associated)) return false;
    _decrypt(text, plain);
    return true;
  }

  bool _isRight(Uint8List sealed, int size, Uint8List text, Uint8List nonce, Uint8List associated) {
    _hash.fillRange(0, 4, 0);
    _add(associated);
    _add(text);
    _addWords(0, associated.length * 8, 0, size * 8);
    final start = ByteData.sublistView(nonce, 0, _nonceBytes);
    for (var word = 0; word < 3; word++) {
      _counter[word] = start.getUint32(4 * word);
    }
    _counter[3] = 1;
    _encrypt(_counter, _stream);
    final tag = ByteData.sublistView(sealed, size);
    var difference = 0;
    for (var word = 0; word < 4; word++) {
      difference |= _hash[word] ^ _stream[word] ^ tag.getUint32(4 * word);
    }
    return difference == 0;
  }

  void _decrypt(Uint8List text, Uint8List plain) {
    final from = ByteData.sublistView(text);
    final to = ByteData.sublistView(plain);
    final whole = text.length & ~(_blockBytes - 1);
    for (var at = 0; at < whole; at += _blockBytes) {
      _nextStream();
      to
        ..setUint32(at, from.getUint32(at) ^ _stream[0])
        ..setUint32(at + 4, from.getUint32(at + 4) ^ _stream[1])
        ..setUint32(at + 8, from.getUint32(at + 8) ^ _stream[2])
        ..setUint32(at + 12, from.getUint32(at + 12) ^ _stream[3]);
    }
    if (whole == text.length) return;
    _nextStream();
    for (var at = whole; at < text.length; at++) {
      final byte = at - whole;
      plain[at] = text[at] ^ (_stream[byte >> 2] >> (24 - 8 * (byte & 3)) & 0xff);
    }
  }

  void _nextStream() {
    _counter[3]++;
    _encrypt(_counter, _stream);
  }

  /// Adds bytes to the hash, the last block filled with zeros.
  void _add(Uint8List bytes) {
    final words = ByteData.sublistView(bytes);
    final whole = bytes.length & ~(_blockBytes - 1);
    for (var at = 0; at < whole; at += _blockBytes) {
      _addWords(words.getUint32(at), words.getUint32(at + 4), words.getUint32(at + 8), words.getUint32(at + 12));
    }
    if (whole == bytes.length) return;
    final last = ByteData.sublistView(Uint8List(_blockBytes)..setRange(0, bytes.length - whole, bytes, whole));
    _addWords(last.getUint32(0), last.getUint32(4), last.getUint32(8), last.getUint32(12));
  }

  /// Adds a block, and multiplies by the key of the hash: a byte at a time, the last one first.
  void _addWords(int a, int b, int c, int d) {
    final hash = _hash;
    final products = _products;
    final w0 = hash[0] ^ a;
    final w1 = hash[1] ^ b;
    final w2 = hash[2] ^ c;
    final w3 = hash[3] ^ d;
    var z0 = 0;
    var z1 = 0;
    var z2 = 0;
    var z3 = 0;
    for (var byte = 15; byte >= 0; byte--) {
      final word = byte >= 12
          ? w3
          : byte >= 8
          ? w2
          : byte >= 4
          ? w1
          : w0;
      final rest = z3 & 0xff;
      final place = (word >> (24 - 8 * (byte & 3)) & 0xff) << 2;
      z3 = (z3 >> 8 | z2 << 24) & _mask ^ products[place + 3];
      z2 = (z2 >> 8 | z1 << 24) & _mask ^ products[place + 2];
      z1 = (z1 >> 8 | z0 << 24) & _mask ^ products[place + 1];
      z0 = z0 >> 8 ^ _reductions[rest] << 16 ^ products[place];
    }
    hash[0] = z0;
    hash[1] = z1;
    hash[2] = z2;
    hash[3] = z3;
  }

  void _fillTable(Uint32List key) {
    var v = [key[0], key[1], key[2], key[3]];
    for (var bit = 0x80; bit > 0; bit >>= 1) {
      _products.setRange(4 * bit, 4 * bit + 4, v);
      final isOdd = v[3].isOdd;
      v = [
        v[0] >> 1 ^ (isOdd ? 0xe1000000 : 0),
        (v[1] >> 1 | v[0] << 31) & _mask,
        (v[2] >> 1 | v[1] << 31) & _mask,
        (v[3] >> 1 | v[2] << 31) & _mask,
      ];
    }
    for (var bit = 2; bit < 256; bit <<= 1) {
      for (var rest = 1; rest < bit; rest++) {
        for (var word = 0; word < 4; word++) {
          _products[4 * (bit + rest) + word] = _products[4 * bit + word] ^ _products[4 * rest + word];
        }
      }
    }
  }

  void _encrypt(Uint32List block, Uint32List result) {
    final keys = _keys;
    final t0 = _tables[0];
    final t1 = _tables[1];
    final t2 = _tables[2];
    final t3 = _tables[3];
    var a = block[0] ^ keys[0];
    var b = block[1] ^ keys[1];
    var c = block[2] ^ keys[2];
    var d = block[3] ^ keys[3];
    var place = 4;
    for (var round = 1; round < _rounds; round++) {
      final e = t0[a >> 24] ^ t1[b >> 16 & 0xff] ^ t2[c >> 8 & 0xff] ^ t3[d & 0xff] ^ keys[place];
      final f = t0[b >> 24] ^ t1[c >> 16 & 0xff] ^ t2[d >> 8 & 0xff] ^ t3[a & 0xff] ^ keys[place + 1];
      final g = t0[c >> 24] ^ t1[d >> 16 & 0xff] ^ t2[a >> 8 & 0xff] ^ t3[b & 0xff] ^ keys[place + 2];
      d = t0[d >> 24] ^ t1[a >> 16 & 0xff] ^ t2[b >> 8 & 0xff] ^ t3[c & 0xff] ^ keys[place + 3];
      a = e;
      b = f;
      c = g;
      place += 4;
    }
    result[0] = _last(a, b, c, d) ^ keys[place];
    result[1] = _last(b, c, d, a) ^ keys[place + 1];
    result[2] = _last(c, d, a, b) ^ keys[place + 2];
    result[3] = _last(d, a, b, c) ^ keys[place + 3];
  }
}

int _last(int a, int b, int c, int d) =>
    _box[a >> 24] << 24 | _box[b >> 16 & 0xff] << 16 | _box[c >> 8 & 0xff] << 8 | _box[d & 0xff];

Uint32List _expanded(Uint8List key) {
  final given = ByteData.sublistView(key);
  final words = Uint32List(4 * (_rounds + 1));
  var constant = 1;
  for (var index = 0; index < words.length; index++) {
    if (index < 8) {
      words[index] = given.getUint32(4 * index);
      continue;
    }
    var word = words[index - 1];
    if (index & 7 == 0) {
      word = _substituted((word << 8 | word >> 24) & _mask) ^ constant << 24;
      constant = _doubled(constant);
    } else if (index & 7 == 4) {
      word = _substituted(word);
    }
    words[index] = words[index - 8] ^ word;
  }
  return words;
}

int _substituted(int word) => _last(word, word, word, word);

int _doubled(int byte) => (byte << 1 ^ (byte >= 128 ? 0x11b : 0)) & 0xff;

const int _mask = 0xffffffff;

/// The S-box: the inverse of each byte in the field, turned and moved.
final Uint8List _box = _makeBox();

Uint8List _makeBox() {
  final box = Uint8List(256);
  var power = 1;
  var inverse = 1;
  do {
    power = power ^ _doubled(power); // times 3
    inverse ^= inverse << 1 & 0xff;
    inverse ^= inverse << 2 & 0xff;
    inverse ^= inverse << 4 & 0xff;
    if (inverse >= 128) inverse ^= 9; // divided by 3
    var turned = inverse;
    for (var bit = 1; bit <= 4; bit++) {
      turned ^= (inverse << bit | inverse >> (8 - bit)) & 0xff;
    }
    box[power] = turned ^ 0x63;
  } while (power != 1);
  box[0] = 0x63;
  return box;
}

/// S-box and mixed columns in one look-up for each byte of a word.
final List<Uint32List> _tables = [
  for (var turn = 0; turn < 4; turn++) Uint32List.fromList([for (final byte in _box) _column(byte, turn)]),
];

int _column(int byte, int turn) {
  final twice = _doubled(byte);
  final word = twice << 24 | byte << 16 | byte << 8 | twice ^ byte;
  return turn == 0 ? word : (word >> 8 * turn | word << (32 - 8 * turn)) & _mask;
}

/// Values as which the bits that leave at the end come back: 16 bits each.
final Uint16List _reductions = _makeReductions();

Uint16List _makeReductions() {
  final reductions = Uint16List(256);
  for (var byte = 0; byte < 256; byte++) {
    var rest = byte;
    var value = 0;
    for (var bit = 0; bit < 8; bit++) {
      value = value >> 1 ^ (rest.isOdd ? 0xe100 : 0);
      rest >>= 1;
    }
    reductions[byte] = value;
  }
  return reductions;
}
