// Encrypted files of models, as mobpack's docs/formats.md describes them.

import 'dart:convert';
import 'dart:typed_data';

import 'aes_gcm.dart';
import 'descriptor.dart';
import 'digest.dart';
import 'errors.dart';

const int _keyBytes = 32;
const int _fixedBytes = 53;
const int _leastChunk = 1 << 12;
const int _mostChunk = 1 << 24;
final RegExp _name = RegExp(r'^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$');

/// Reads encrypted files.
final class Decryption implements ModelCipher {
  /// There is nothing to choose.
  const Decryption();

  @override
  int get headerBytes => _fixedBytes + 64;

  @override
  SealedFile? read(Uint8List start, int size, String name) {
    ModelException wrong() => ModelException(ModelErrorCode.corrupted, '$name is no encrypted model of version 2');
    for (final (index, byte) in ascii.encode('MPCRYPT').indexed) {
      if (start.length <= index || start[index] != byte) return null;
    }
    if (start.length <= _fixedBytes) throw wrong();
    final values = ByteData.sublistView(start);
    final chunkBytes = values.getUint32(8, Endian.little);
    final plainBytes = values.getUint64(12, Endian.little);
    final nameBytes = start[_fixedBytes - 1];
    final headerBytes = _fixedBytes + nameBytes;
    final isRight = start[7] == 2 && chunkBytes >= _leastChunk && chunkBytes <= _mostChunk && plainBytes >= 0;
    if (!isRight || plainBytes > size || nameBytes < 1 || headerBytes > start.length) throw wrong();
    final keyId = latin1.decode(Uint8List.sublistView(start, _fixedBytes, headerBytes));
    final chunks = plainBytes == 0 ? 1 : (plainBytes + chunkBytes - 1) ~/ chunkBytes;
    if (!_name.hasMatch(keyId)) throw wrong();
    if (size != headerBytes + plainBytes + chunks * tagBytes) {
      throw ModelException(ModelErrorCode.corrupted, '$name has $size bytes, which are not those that its header says');
    }
    final header = Uint8List.fromList(Uint8List.sublistView(start, 0, headerBytes));
    return _Sealed(name, keyId, plainBytes, header, chunkBytes, chunks);
  }
}

final class _Sealed implements SealedFile {
  const _Sealed(this._name, this.keyId, this.plainBytes, this._header, this._chunkBytes, this._chunks);

  final String _name;

  @override
  final String keyId;

  @override
  final int plainBytes;

  final Uint8List _header;
  final int _chunkBytes;
  final int _chunks;

  @override
  void open(Uint8List key, Uint8List sealed, Uint8List plain) {
    if (key.length != _keyBytes) {
      throw ModelException(ModelErrorCode.key, 'the key $keyId has ${key.length} bytes, not $_keyBytes');
    }
    if (key.every((byte) => byte == 0)) {
      throw ModelException(ModelErrorCode.key, 'the key $keyId is all zeros: nobody has set it');
    }
    final cipher = AesGcm(_keyOfFile(key));
    final associated = Uint8List(_header.length + 5)..setAll(0, _header);
    final nonce = Uint8List(12);
    for (var index = 0; index < _chunks; index++) {
      final start = index * _chunkBytes;
      final end = index == _chunks - 1 ? plainBytes : start + _chunkBytes;
      final place = _header.length + start + index * tagBytes;
      ByteData.sublistView(nonce).setUint32(8, index);
      ByteData.sublistView(associated).setUint32(_header.length, index);
      associated[associated.length - 1] = index == _chunks - 1 ? 1 : 0;
      final isRight = cipher.open(
        Uint8List.sublistView(sealed, place, place + end - start + tagBytes),
        Uint8List.sublistView(plain, start, end),
        nonce: nonce,
        associated: associated,
      );
      if (isRight) continue;
      throw ModelException(
        ModelErrorCode.key,
        "$_name was encrypted with another key than the app's $keyId, or was changed",
      );
    }
  }

  /// HKDF with SHA-256 (RFC 5869): a key for this file and header alone.
  Uint8List _keyOfFile(Uint8List key) {
    final salt = Uint8List.sublistView(_header, 20, 52);
    return _mac(_mac(salt, key), Uint8List.fromList([...ascii.encode('mobpack model file v2'), ..._header, 1]));
  }
}

/// HMAC with SHA-256 (RFC 2104), of a key of less than 64 bytes.
Uint8List _mac(Uint8List key, Uint8List message) {
  Uint8List padded(int pad) => Uint8List.fromList([for (var index = 0; index < 64; index++) (index < key.length ? key[index] : 0) ^ pad]);
  final inner = Sha256()
    ..add(padded(0x36))
    ..add(message);
  return (Sha256()
        ..add(padded(0x5c))
        ..add(inner.close()))
      .close();
}
