// The rows of a picture's pixels in memory, and the part of them that a model takes.

import 'dart:typed_data';

import 'errors.dart';
import 'tensor.dart';

/// A plane of a camera's picture, as the plugin `camera` describes it.
final class PicturePlane {
  /// With its strides.
  const PicturePlane(this.bytes, {required this.bytesPerRow, this.bytesPerPixel = 1});

  /// Its rows.
  final Uint8List bytes;

  /// From the start of one row to that of the next.
  final int bytesPerRow;

  /// From one value to the next.
  final int bytesPerPixel;
}

/// A part of a picture, in whole pixels as they lie in memory: `right` and `bottom` are behind the last of them.
final class Region {
  /// By its edges.
  const Region(this.left, this.top, this.right, this.bottom);

  /// Its first column.
  final int left;

  /// Its first row.
  final int top;

  /// The column behind its last one.
  final int right;

  /// The row behind its last one.
  final int bottom;

  /// The same part of a picture of half the size.
  Region get half => Region(left ~/ 2, top ~/ 2, right ~/ 2, bottom ~/ 2);

  /// Whether all edges are even.
  bool get isEven => left.isEven && top.isEven && right.isEven && bottom.isEven;

  /// Whether it is a part of a picture.
  bool isWithin(int width, int height) =>
      0 <= left && left < right && right <= width && 0 <= top && top < bottom && bottom <= height;

  @override
  String toString() => 'left $left, top $top, right $right, bottom $bottom';
}

/// Rows of pixels that were checked.
final class Rows {
  const Rows._(this.bytes, this.rowBytes, this.pixelBytes);

  /// The rows of `height` times `width` pixels, called `what` in errors. They have no gaps where `rowBytes` is null.
  ///
  /// Throws ModelException `badInput`: the rows are too short, or the bytes too few.
  factory Rows(
    Uint8List bytes,
    String what, {
    required int width,
    required int height,
    required int pixelBytes,
    int? rowBytes,
  }) {
    final row = width * pixelBytes;
    if (rowBytes != null && rowBytes < row) {
      throw refusedPicture(what, 'has rows of $rowBytes bytes, and a row of $width pixels has $row');
    }
    final needed = (rowBytes ?? row) * (height - 1) + row;
    if (bytes.length < needed) throw refusedPicture(what, 'has ${bytes.length} bytes instead of $needed');
    if (rowBytes == null && bytes.length > needed) {
      throw refusedPicture(
        what,
        'has ${bytes.length} bytes instead of $needed: for rows with gaps say how long they are',
      );
    }
    return Rows._(bytes, rowBytes ?? row, pixelBytes);
  }

  /// Bytes of the plane.
  final Uint8List bytes;

  /// From the start of one row to that of the next.
  final int rowBytes;

  /// Bytes of a pixel.
  final int pixelBytes;

  /// Rows that follow `height` rows.
  Rows after(int height, int pixelBytes) =>
      Rows._(Uint8List.sublistView(bytes, height * rowBytes), rowBytes, pixelBytes);

  /// The bytes of a region: a view where its rows follow each other, else a copy.
  TensorInput<Uint8List> part(Region region) {
    final Region(:left, :top, :right, :bottom) = region;
    final (length, rows) = ((right - left) * pixelBytes, bottom - top);
    final start = top * rowBytes + left * pixelBytes;
    final shape = [rows, right - left, pixelBytes];
    if (length == rowBytes || rows == 1) {
      return TensorInput(Uint8List.sublistView(bytes, start, start + rows * length), shape: shape);
    }
    final copy = Uint8List(rows * length);
    for (var row = 0; row < rows; row++) {
      copy.setRange(row * length, (row + 1) * length, bytes, start + row * rowBytes);
    }
    return TensorInput(copy, shape: shape);
  }
}

/// The values of a plane without gaps, at every `step`-th place of `packed` from `start` on.
///
/// Throws ModelException `badInput` for a plane that is too small.
void packPlane(Uint8List packed, int start, int step, PicturePlane plane, int width, int height) {
  final PicturePlane(:bytes, :bytesPerRow, :bytesPerPixel) = plane;
  final needed = bytesPerRow * (height - 1) + bytesPerPixel * (width - 1) + 1;
  if (bytesPerPixel < 1 || bytesPerRow < 0 || bytes.length < needed) {
    throw ModelException(
      ModelErrorCode.badInput,
      'a plane of $width x $height has ${bytes.length} bytes instead of $needed',
    );
  }
  for (var row = 0, at = start; row < height; row++) {
    var from = row * bytesPerRow;
    if (step == 1 && bytesPerPixel == 1) {
      packed.setRange(at, at + width, bytes, from);
      at += width;
      continue;
    }
    for (var column = 0; column < width; column++) {
      packed[at] = bytes[from];
      at += step;
      from += bytesPerPixel;
    }
  }
}

/// A picture that no model takes.
ModelException refusedPicture(String what, String words) =>
    ModelException(ModelErrorCode.badInput, 'picture `$what` $words');
