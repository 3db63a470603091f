// Decompresses raw deflate (RFC 1951) in bounded memory. The one of dart:io does not say where a stream ends: it takes
// streams that were cut, and others with bytes behind them, for whole ones.

import 'dart:typed_data';

const int _windowBytes = 1 << 15;
const int _mostBits = 15;

/// A stream is not deflate, or ends too early.
final class InflateException implements Exception {
  /// With the reason.
  const InflateException(this.message);

  /// For people.
  final String message;
}

/// Bytes of a deflate stream, decompressed one by one.
final class Inflater {
  /// `more` gives compressed bytes: none at the end of the file.
  Inflater(this._more);

  final Uint8List Function() _more;

  Uint8List _packed = Uint8List(0);
  int _at = 0;
  int _bits = 0;
  int _bitCount = 0;

  /// Bytes that were decompressed last, for copies.
  final Uint8List _window = Uint8List(_windowBytes);
  int _place = 0;
  int _size = 0;

  bool _isLast = false;
  bool _isEnd = false;
  int _storedLeft = 0;
  _Codes? _literals;
  _Codes? _distances;

  /// Remaining length of a copy that is under way.
  int _copyLeft = 0;
  int _copyFrom = 0;

  /// Fills `target` from `start` on as far as the stream goes, and says how many bytes there were.
  int read(Uint8List target, int start, int end) {
    var at = start;
    while (at < end) {
      if (_copyLeft > 0) {
        final byte = _window[_copyFrom];
        _copyFrom = (_copyFrom + 1) & (_windowBytes - 1);
        _copyLeft--;
        target[at++] = _kept(byte);
      } else if (_storedLeft > 0) {
        _storedLeft--;
        target[at++] = _kept(_byte());
      } else if (_literals == null) {
        if (_isLast) {
          _isEnd = true;
          return at - start;
        }
        _beginBlock();
      } else {
        final symbol = _symbol(_literals!);
        if (symbol < 256) {
          target[at++] = _kept(symbol);
        } else if (symbol == 256) {
          _literals = _distances = null;
        } else {
          _beginCopy(symbol - 257);
        }
      }
    }
    return at - start;
  }

  /// Whether the stream has ended, and no byte follows it.
  bool get isWholeFile {
    if (!_isEnd || _at < _packed.length || _bitCount >= 8) return false;
    return _more().isEmpty;
  }

  int _kept(int byte) {
    _window[_place] = byte;
    _place = (_place + 1) & (_windowBytes - 1);
    if (_size < _windowBytes) _size++;
    return byte;
  }

  void _beginBlock() {
    _isLast = _take(1) == 1;
    switch (_take(2)) {
      case 0:
        _take(_bitCount & 7);
        final length = _take(16);
        if (_take(16) != length ^ 0xffff) throw const InflateException('the two lengths of a block differ');
        _storedLeft = length;
      case 1:
        _literals = _fixedLiterals;
        _distances = _fixedDistances;
      case 2:
        _readCodes();
      default:
        throw const InflateException('a block has an unknown type');
    }
  }

  void _beginCopy(int length) {
    if (length >= _lengths.length) throw const InflateException('a copy has an unknown length');
    final count = _lengths[length] + _take(_lengthBits[length]);
    final symbol = _symbol(_distances!);
    if (symbol >= _distanceStarts.length) throw const InflateException('a copy has an unknown distance');
    final distance = _distanceStarts[symbol] + _take(_distanceBits[symbol]);
    if (distance > _size) throw const InflateException('a copy begins before the first byte');
    _copyLeft = count;
    _copyFrom = (_place - distance) & (_windowBytes - 1);
  }

  void _readCodes() {
    final literals = _take(5) + 257;
    final distances = _take(5) + 1;
    final count = _take(4) + 4;
    if (literals > 286 || distances > 30) throw const InflateException('a block has too many codes');
    final order = Uint8List(_order.length);
    for (var index = 0; index < count; index++) {
      order[_order[index]] = _take(3);
    }
    final codes = _Codes(order, isWhole: true);
    final lengths = Uint8List(literals + distances);
    for (var at = 0; at < lengths.length;) {
      final symbol = _symbol(codes);
      if (symbol < 16) {
        lengths[at++] = symbol;
        continue;
      }
      if (symbol == 16 && at == 0) throw const InflateException('nothing is repeated');
      final length = symbol == 16 ? lengths[at - 1] : 0;
      final repeated = symbol == 16
          ? 3 + _take(2)
          : symbol == 17
          ? 3 + _take(3)
          : 11 + _take(7);
      if (at + repeated > lengths.length) throw const InflateException('lengths are repeated beyond the last code');
      lengths.fillRange(at, at += repeated, length);
    }
    if (lengths[256] == 0) throw const InflateException('a block has no end');
    _literals = _Codes(Uint8List.sublistView(lengths, 0, literals), isWhole: false);
    _distances = _Codes(Uint8List.sublistView(lengths, literals), isWhole: false);
  }

  int _symbol(_Codes codes) {
    while (_bitCount < _mostBits && _fill()) {}
    final entry = codes.table[_bits & ((1 << codes.bits) - 1)];
    final length = entry & 15;
    if (length == 0) throw const InflateException('a code means no symbol');
    if (length > _bitCount) throw const InflateException('it ends too early');
    _bits >>= length;
    _bitCount -= length;
    return entry >> 4;
  }

  int _take(int count) {
    while (_bitCount < count) {
      if (!_fill()) throw const InflateException('it ends too early');
    }
    final value = _bits & ((1 << count) - 1);
    _bits >>= count;
    _bitCount -= count;
    return value;
  }

  int _byte() => _take(8);

  bool _fill() {
    if (_at == _packed.length) {
      _packed = _more();
      _at = 0;
      if (_packed.isEmpty) return false;
    }
    _bits |= _packed[_at++] << _bitCount;
    _bitCount += 8;
    return true;
  }
}

/// A canonical Huffman code as a table: by the next bits, a symbol above four bits with the length of its code.
final class _Codes {
  _Codes(Uint8List lengths, {required bool isWhole}) : bits = _longest(lengths) {
    table = Uint16List(1 << bits);
    final counts = Uint16List(_mostBits + 1);
    for (final each in lengths) {
      if (each > 0) counts[each]++;
    }
    final next = Uint32List(_mostBits + 2);
    var code = 0;
    var left = 1;
    for (var length = 1; length <= _mostBits; length++) {
      left = (left << 1) - counts[length];
      if (left < 0) throw const InflateException('codes overlap');
      next[length] = code;
      code = (code + counts[length]) << 1;
    }
    // One code of one bit, or none at all, may stand alone.
    if (left > 0 && (isWhole || bits > 1)) throw const InflateException('codes are missing');
    for (var symbol = 0; symbol < lengths.length; symbol++) {
      final length = lengths[symbol];
      if (length == 0) continue;
      final reversed = _reversed(next[length]++, length);
      for (var index = reversed; index < table.length; index += 1 << length) {
        table[index] = symbol << 4 | length;
      }
    }
  }

  final int bits;
  late final Uint16List table;

  static int _longest(Uint8List lengths) {
    var longest = 1;
    for (final each in lengths) {
      if (each > longest) longest = each;
    }
    return longest;
  }

  static int _reversed(int code, int length) {
    var reversed = 0;
    for (var bit = 0; bit < length; bit++) {
      reversed = reversed << 1 | (code >> bit) & 1;
    }
    return reversed;
  }
}

final _Codes _fixedLiterals = _Codes(
  Uint8List.fromList([
    for (var symbol = 0; symbol < 288; symbol++)
      symbol < 144
          ? 8
          : symbol < 256
          ? 9
          : symbol < 280
          ? 7
          : 8,
  ]),
  isWhole: true,
);
final _Codes _fixedDistances = _Codes(Uint8List(32)..fillRange(0, 32, 5), isWhole: true);

const List<int> _order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const List<int> _lengths = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258, //
];
const List<int> _lengthBits = [
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0, //
];
const List<int> _distanceStarts = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, //
  8193, 12289, 16385, 24577,
];
const List<int> _distanceBits = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, //
];
