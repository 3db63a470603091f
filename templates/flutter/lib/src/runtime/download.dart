// The download of one file, which goes on where an earlier one ended.

import 'dart:async';
import 'dart:io';

import 'errors.dart';
import 'requests.dart';
import 'storage.dart';

/// Statuses of servers that are busy, or have an error that may pass.
const Set<int> _passing = {408, 425, 429, 500, 502, 503, 504};

/// A file that comes from `address` to `target`: there it is whole and checked, or not at all. What has come is kept in a
/// file of its own, `target.part`.
final class Download {
  /// A download of `sizeBytes` bytes with a SHA-256 in hexadecimal; `onBytes` is told how many have come.
  Download(
    this.address,
    this.target, {
    required this.sha256,
    required this.sizeBytes,
    required this.requests,
    required this.onBytes,
  }) : _part = File('${target.path}.part');

  /// Address of the file.
  final Uri address;

  /// Where it comes to lie.
  final File target;

  /// SHA-256 that the file must have.
  final String sha256;

  /// Size that the file must have.
  final int sizeBytes;

  /// Requests that the download is part of.
  final Requests requests;

  /// Is told how many bytes of it are there.
  final void Function(int bytes) onBytes;

  final File _part;

  /// ETag of what has come since this download began.
  String? _tag;

  late Deadline _deadline;

  /// Others who want the file meanwhile wait for this download. Does nothing where the file is.
  ///
  /// Throws ModelException `network`, `corrupted`, `noSpace`, `unreadable` or `cancelled`.
  Future<void> run() async {
    final lock = File('${target.path}.lock');
    await keeping(target.path, () => createUnsaved(target.parent));
    try {
      await locked(lock, () async {
        if (await sizeOf(target) != sizeBytes) await _complete();
      }, check: requests.check);
    } on FileSystemException catch (error) {
      throw storageException(target.path, error);
    }
  }

  Future<void> _complete() async {
    final isResumed = await sizeOf(_part) > 0;
    await _fetch();
    if (!await _isRight()) {
      // The first bytes may be of an earlier time, and wrong: once more, from the start.
      await _forget();
      if (isResumed) await _fetch();
      if (!isResumed || !await _isRight()) throw await _corrupted();
    }
    await keeping(target.path, () => putInPlace(_part, target));
  }

  Future<bool> _isRight() async => await sizeOf(_part) == sizeBytes && await digestOfFile(_part) == sha256;

  Future<void> _forget() async {
    if (await _part.exists()) await _part.delete();
  }

  Future<ModelException> _corrupted() async {
    await _forget();
    return ModelException(
      ModelErrorCode.corrupted,
      '$address is not the file that the package was built with, $sha256',
    );
  }

  /// Asks until all of the file is there, or some requests in a row have brought nothing.
  Future<void> _fetch() async {
    var failures = 0;
    _deadline = Deadline(requests.pace.file, from: await sizeOf(_part));
    while (true) {
      final before = await sizeOf(_part);
      if (before == sizeBytes) {
        if (sizeBytes == 0) await keeping(_part.path, _part.create);
        return;
      }
      if (before > sizeBytes) return;
      onBytes(before);
      await _requireSpace(sizeBytes - before);
      try {
        await _request(before);
      } on FileSystemException catch (error) {
        throw storageException(target.path, error);
      } on ModelException {
        rethrow;
      } on Exception catch (failure) {
        if (_deadline.isOver) throw _refused('takes too long');
        failures = await sizeOf(_part) > before ? 1 : failures + 1;
        if (failures >= requests.pace.attempts) {
          throw ModelException(ModelErrorCode.network, 'cannot download $address: ${wordsOf(failure)}');
        }
        await requests.pause(requests.pace.firstPause * (1 << (failures - 1)));
      }
    }
  }

  Future<void> _request(int offset) {
    final tag = _tag;
    return requests.ask(
      address,
      {HttpHeaders.rangeHeader: 'bytes=$offset-${sizeBytes - 1}', if (tag != null) HttpHeaders.ifRangeHeader: tag},
      _deadline,
      (answer) => _take(answer, offset),
    );
  }

  Future<void> _take(HttpClientResponse answer, int offset) async {
    final status = answer.statusCode;
    switch (status) {
      case HttpStatus.ok:
        break;
      case HttpStatus.partialContent:
        final start = _startOf(answer);
        if (start != offset) throw _refused('sends bytes from $start on, not $offset');
      case HttpStatus.requestedRangeNotSatisfiable:
        throw await _corrupted();
      case _ when _passing.contains(status):
        throw HttpException('the server answers with status $status');
      default:
        throw _refused('answers with status $status');
    }
    final tag = answer.headers.value(HttpHeaders.etagHeader);
    _tag = tag == null || tag.startsWith('W/') ? null : tag;
    await _write(answer, status == HttpStatus.ok ? 0 : offset);
  }

  /// `bytes 100-199/200` -> 100
  int? _startOf(HttpClientResponse answer) {
    final range = answer.headers.value(HttpHeaders.contentRangeHeader) ?? '';
    return int.tryParse(RegExp(r'^bytes (\d+)-').firstMatch(range)?.group(1) ?? '');
  }

  Future<void> _write(HttpClientResponse answer, int start) async {
    final file = await _part.open(mode: start == 0 ? FileMode.write : FileMode.append);
    var size = start;
    try {
      await for (final piece in requests.pieces(answer, _deadline)) {
        requests.check();
        size += piece.length;
        if (size > sizeBytes) throw await _corrupted();
        await file.writeFrom(piece);
        onBytes(size);
        _deadline.reached(size);
      }
      await file.flush();
    } finally {
      await file.close();
    }
    if (size < sizeBytes) throw const HttpException('the connection ended early');
  }

  Future<void> _requireSpace(int bytes) async {
    final free = await freeBytes(target.parent);
    if (free == null || free >= bytes) return;
    throw ModelException(ModelErrorCode.noSpace, '$address needs $bytes bytes of storage, $free are free');
  }

  ModelException _refused(String answer) =>
      ModelException(ModelErrorCode.network, 'cannot download $address: the server $answer');
}

/// Size of a file; 0 for one that is not there.
Future<int> sizeOf(File file) async {
  try {
    return await file.length();
  } on FileSystemException {
    return 0;
  }
}

/// Message of an exception, in one line.
String wordsOf(Object failure) => '$failure'.split('\n').first;
