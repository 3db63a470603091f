// Checks the bytes of files: all of them, unless a note says that this was done.

import 'dart:ffi';
import 'dart:io';
import 'dart:typed_data';

import 'digest.dart';
import 'errors.dart';
import 'mapped_file.dart';
import 'sha256.dart';
import 'worker.dart';

/// Size of the two blocks of a file that are read at every load.
const int _blockBytes = 64 * 1024;

/// Throws ModelException `corrupted` for bytes that are not those of the file.
void check(PlacedFile file, ModelBytes bytes) {
  final expected = file.sha256;
  if (expected == null) return;
  final note = _noteOf(file, expected);
  final text = note == null ? '' : _textOf(file, bytes);
  if (note != null && text.isNotEmpty && _read(note) == text) return;
  final found = sha256At(bytes.address, bytes.size);
  if (found != expected) {
    throw ModelException(ModelErrorCode.corrupted, '${file.name} has sha256 $found instead of $expected');
  }
  if (note != null && text.isNotEmpty) _write(note, text);
}

File? _noteOf(PlacedFile file, String sha256) {
  final notes = file.notes;
  return notes == null ? null : File('$notes/$sha256');
}

/// A note about a file: which one it is, when it was written to, and the digest of its ends; empty for one of which
/// that is not known.
String _textOf(PlacedFile file, ModelBytes bytes) {
  final identity = _identityOf(file);
  if (identity.isEmpty) return '';
  final all = bytes.address.asTypedList(bytes.size);
  final first = bytes.size < _blockBytes ? bytes.size : _blockBytes;
  final rest = bytes.size - first;
  final digest = Sha256()
    ..add(Uint8List.sublistView(all, 0, first))
    ..add(Uint8List.sublistView(all, bytes.size - (rest < _blockBytes ? rest : _blockBytes)));
  return '$identity ${hexOf(digest.close())}';
}

String _identityOf(PlacedFile file) {
  final path = file.path;
  if (path == null) return file.identity;
  final found = FileStat.statSync(path);
  if (found.type == FileSystemEntityType.notFound) return '';
  return '$path ${found.size} ${found.modified.microsecondsSinceEpoch} ${found.changed.microsecondsSinceEpoch}';
}

String? _read(File note) {
  try {
    return note.readAsStringSync();
  } on FileSystemException {
    return null;
  }
}

/// A note that cannot be written costs time at the next load, nothing else.
void _write(File note, String text) {
  try {
    note.parent.createSync(recursive: true);
    final unfinished = File('${note.path}.$pid.new')..writeAsStringSync(text);
    unfinished.renameSync(note.path);
  } on FileSystemException {
    return;
  }
}
