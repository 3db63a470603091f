// Makes files of those that the device has, through buffers of some KiB whatever their size. mobpack's docs/formats.md
// has the format.

import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

import '../digest.dart';
import '../storage.dart';

const int _chunkBytes = 1 << 16;
const int _hashBytes = 32;
const int _mostSpanBytes = 1 << 20;
const int _mostChanged = 1 << 18;

/// A delta is damaged, or is for another file.
final class DeltaException implements Exception {
  /// With the reason.
  const DeltaException(this.message);

  /// For people.
  final String message;
}

/// Writes to `result` the file that `delta` makes of `source`, durably, and gives its SHA-256. All are paths.
///
/// Throws DeltaException for another source, a result of more than `limit` bytes, or any number that cannot be; what was
/// written is of no use then.
String applyDelta(String source, String delta, String result, int limit) {
  final sourceFile = File(source).openSync();
  RandomAccessFile? deltaFile;
  RandomAccessFile? resultFile;
  try {
    deltaFile = File(delta).openSync();
    final header = _Header.read(deltaFile);
    header.require(sourceFile, source, limit);
    resultFile = File(result).openSync(mode: FileMode.write);
    final made = _Run(sourceFile, _Instructions(deltaFile), resultFile, header.resultBytes).all(header.resultSha256);
    resultFile.flushSync();
    return made;
  } on FormatException catch (damaged) {
    throw DeltaException('what follows its header is not deflate: ${damaged.message}');
  } finally {
    sourceFile.closeSync();
    deltaFile?.closeSync();
    resultFile?.closeSync();
  }
}

/// The header of a delta: the file that it is for, and the one that it makes.
final class _Header {
  const _Header(this.sourceSha256, this.resultSha256, this.sourceBytes, this.resultBytes);

  factory _Header.read(RandomAccessFile delta) {
    int byte() {
      final value = delta.readByteSync();
      return value >= 0 ? value : throw const DeltaException('it ends inside its header');
    }

    String hash() => hexOf(Uint8List.fromList([for (var index = 0; index < _hashBytes; index++) byte()]));
    for (final each in [...ascii.encode('MPDELTA'), 1]) {
      if (byte() != each) throw const DeltaException('it is no delta of version 1');
    }
    return _Header(hash(), hash(), _varint(byte), _varint(byte));
  }

  final String sourceSha256;
  final String resultSha256;
  final int sourceBytes;
  final int resultBytes;

  void require(RandomAccessFile source, String path, int limit) {
    if (resultBytes > limit) throw DeltaException('it makes a file of $resultBytes bytes, more than $limit');
    if (sourceBytes != source.lengthSync()) throw DeltaException('it is for a file of $sourceBytes bytes');
    if (sourceSha256 != digestOfFileHere(path)) throw DeltaException('it is for another file, $sourceSha256');
  }
}

/// A number of 63 bits at most, of which each byte has seven, the lowest first.
int _varint(int Function() byte) {
  var number = 0;
  for (var index = 0; index < 9; index++) {
    final next = byte();
    number |= (next & 127) << 7 * index;
    if (next < 128) return number;
  }
  throw const DeltaException('a number has more than 63 bits');
}

/// 0, 1, 2, 3 ... -> 0, -1, 1, -2 ...
int _unfolded(int number) => (number >>> 1) ^ -(number & 1);

/// The instructions of a delta: a raw deflate stream that ends with the file.
///
/// What decompresses for dart:io takes streams that were cut, and others with bytes behind them, for whole ones. This one
/// is told that it is in zlib's format (RFC 1950), in which a checksum comes right behind the end.
final class _Instructions {
  _Instructions(this._delta) {
    _filter.process([0x78, 0x9c], 0, 2);
  }

  final RandomAccessFile _delta;
  final RawZLibFilter _filter = RawZLibFilter.inflateFilter();
  List<int> _found = const [];
  int _at = 0;

  /// Both halves of the checksum (Adler-32) of what was decompressed.
  int _low = 1;
  int _high = 0;

  int byte() => _hasMore() ? _found[_at++] : throw const DeltaException('its instructions end too early');

  void read(Uint8List target, int count) {
    for (var at = 0; at < count;) {
      if (!_hasMore()) throw const DeltaException('its instructions end too early');
      final size = min(count - at, _found.length - _at);
      target.setRange(at, at + size, _found, _at);
      at += size;
      _at += size;
    }
  }

  /// Throws FormatException, too.
  void requireEnd() {
    if (_hasMore()) throw const DeltaException('bytes follow its last instruction');
    final checksum = ByteData(4)..setUint32(0, _high << 16 | _low);
    // Set bits alone are an error, or one more byte, wherever a stream goes on.
    final end = [...checksum.buffer.asUint8List(), ...List.filled(1024, 0xff)];
    _filter.process(end, 0, end.length);
    if (_filter.processed() != null) throw const DeltaException('it ends too early');
  }

  bool _hasMore() {
    while (_at == _found.length) {
      if (_filter.processed() case final found?) {
        _found = found;
        _at = 0;
        for (final byte in found) {
          _low += byte;
          _high += _low;
        }
        _low %= 65521;
        _high %= 65521;
      } else {
        final packed = _delta.readSync(_chunkBytes);
        if (packed.isEmpty) return false;
        _filter.process(packed, 0, packed.length);
      }
    }
    return true;
  }
}

/// Does the instructions of a delta, one after the other.
final class _Run {
  _Run(this._source, this._instructions, this._result, this._resultBytes);

  final RandomAccessFile _source;
  late final int _sourceBytes = _source.lengthSync();
  final _Instructions _instructions;
  final RandomAccessFile _result;
  final int _resultBytes;
  final Sha256 _digest = Sha256();
  final Uint8List _chunk = Uint8List(_chunkBytes);

  /// The place in the source behind what the last instruction has read.
  int _cursor = 0;
  int _written = 0;

  String all(String sha256) {
    for (var instruction = _instructions.byte(); instruction != 0; instruction = _instructions.byte()) {
      switch (instruction) {
        case 1:
          _pass(_part(1), _readSource);
        case 2:
          _pass(_length(1), _instructions.read);
        case 3:
          _add();
        case 4:
          _addToSome();
        default:
          throw DeltaException('it has an unknown instruction $instruction');
      }
    }
    _instructions.requireEnd();
    if (_written != _resultBytes) throw DeltaException('its result has $_written bytes, not $_resultBytes');
    final found = hexOf(_digest.close());
    if (found != sha256) throw const DeltaException('its result has another sha256 than it says');
    return found;
  }

  /// Writes as many bytes as `read` gives.
  void _pass(int bytes, void Function(Uint8List target, int size) read) {
    for (var left = bytes; left > 0; left -= _chunkBytes) {
      final size = min(left, _chunkBytes);
      read(_chunk, size);
      _write(_chunk, size);
    }
  }

  void _add() {
    final width = _width();
    final values = _span(width);
    final count = values.length ~/ width;
    final planes = _planes(count, width);
    for (var index = 0; index < count; index++) {
      _addTo(values, index, width, _unfolded(_numberIn(planes, index, count, width)));
    }
    _write(values, values.length);
  }

  void _addToSome() {
    final width = _width();
    final values = _span(width);
    final all = values.length ~/ width;
    final count = _varint(_instructions.byte);
    final gapWidth = _instructions.byte();
    if (count < 1 || count > min(all, _mostChanged) || gapWidth < 1 || gapWidth > 3) {
      throw DeltaException('it changes $count of $all values, with gaps of $gapWidth bytes');
    }
    final gaps = _planes(count, gapWidth);
    final planes = _planes(count, width);
    var place = -1;
    for (var index = 0; index < count; index++) {
      place += 1 + _numberIn(gaps, index, count, gapWidth);
      if (place >= all) throw DeltaException('it changes value $place of $all');
      _addTo(values, place, width, _unfolded(_numberIn(planes, index, count, width)));
    }
    _write(values, values.length);
  }

  int _width() {
    final width = _instructions.byte();
    return const {1, 2, 4, 8}.contains(width) ? width : throw DeltaException('it adds to values of $width bytes');
  }

  /// The bytes of the source that an instruction adds to.
  Uint8List _span(int width) {
    final bytes = _part(width);
    if (bytes > _mostSpanBytes) throw DeltaException('an instruction adds to $bytes bytes');
    final values = Uint8List(bytes);
    _readSource(values, bytes);
    return values;
  }

  Uint8List _planes(int count, int width) {
    final planes = Uint8List(count * width);
    _instructions.read(planes, planes.length);
    return planes;
  }

  /// The number of bytes, in units, that an instruction reads from the source, which is at their start now.
  int _part(int unit) {
    final start = _cursor + _unfolded(_varint(_instructions.byte));
    final bytes = _length(unit) * unit;
    if (start < 0 || bytes > _sourceBytes - start) {
      throw DeltaException('an instruction reads $bytes bytes at byte $start of $_sourceBytes');
    }
    _cursor = start + bytes;
    _source.setPositionSync(start);
    return bytes;
  }

  /// A number of units of `unit` bytes that the result still has room for.
  int _length(int unit) {
    final length = _varint(_instructions.byte);
    if (length >= 1 && length <= (_resultBytes - _written) ~/ unit) return length;
    throw const DeltaException('an instruction writes beyond the result');
  }

  void _readSource(Uint8List target, int size) {
    for (var at = 0; at < size;) {
      final count = _source.readIntoSync(target, at, size);
      if (count == 0) throw const DeltaException('the source ends too early');
      at += count;
    }
  }

  void _write(Uint8List bytes, int size) {
    _result.writeFromSync(bytes, 0, size);
    _digest.add(bytes, 0, size);
    _written += size;
  }
}

/// The integer `index` of `count` in planes: the lowest byte of all, then the next.
int _numberIn(Uint8List planes, int index, int count, int width) {
  var number = 0;
  for (var plane = 0; plane < width; plane++) {
    number |= planes[plane * count + index] << 8 * plane;
  }
  return number;
}

/// Adds to the little-endian integer `index` of `width` bytes.
void _addTo(Uint8List values, int index, int width, int difference) {
  var number = difference;
  final start = index * width;
  for (var byte = 0; byte < width; byte++) {
    number += values[start + byte] << 8 * byte;
  }
  for (var byte = start; byte < start + width; byte++) {
    values[byte] = number & 0xff;
    number >>>= 8;
  }
}
