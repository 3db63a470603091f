// From a picture, as cameras and decoders have it, to the tensors of a model.

import 'dart:typed_data';

import 'errors.dart';
import 'tensor.dart';

/// The order of the colours in a pixel, one byte each; or a camera's luma and chroma.
enum PixelFormat {
  /// Red, green, blue, alpha.
  rgba(4, [0, 1, 2]),

  /// Blue, green, red, alpha.
  bgra(4, [2, 1, 0]),

  /// Alpha, red, green, blue.
  argb(4, [1, 2, 3]),

  /// Red, green, blue.
  rgb(3, [0, 1, 2]),

  /// Blue, green, red.
  bgr(3, [2, 1, 0]),

  /// Brightness.
  grey(1, [0, 0, 0]),

  /// Luma, then chroma of half the size, U before V.
  nv12(1, [0, 0, 0], [0, 1]),

  /// Luma, then chroma of half the size, V before U.
  nv21(1, [0, 0, 0], [1, 0]);

  const PixelFormat(this._bytesPerPixel, this._channels, [this._chroma]);

  final int _bytesPerPixel;
  final List<int> _channels;
  final List<int>? _chroma;
}

/// How luma and chroma become red, green and blue: ITU-R's standard, and whether numbers use the full range.
enum YuvConversion {
  /// BT.601, as JPEG and most cameras of Android use it.
  bt601Full,

  /// BT.601, from 16 to 235.
  bt601Video,

  /// BT.709.
  bt709Full,

  /// BT.709, from 16 to 235.
  bt709Video,
}

/// Where a picture as it lies in memory has its upper side, in the order in which Exif numbers them.
enum PictureOrientation {
  /// The first row is the upper one.
  up,

  /// As [up], mirrored.
  upMirrored,

  /// The last row is the upper one.
  down,

  /// As [down], mirrored.
  downMirrored,

  /// As [left], mirrored.
  leftMirrored,

  /// To be turned clockwise by 90 degrees.
  right,

  /// As [right], mirrored.
  rightMirrored,

  /// To be turned counter-clockwise by 90 degrees.
  left,
}

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

/// A picture of any size.
final class Picture {
  /// Pixels, row after row. Alpha is ignored: transparent pixels count with their colour. Luma and chroma have an even
  /// width and height, and the rows of chroma follow those of luma, with the same `rowBytes`.
  const Picture(
    this.pixels, {
    required this.width,
    required this.height,
    this.format = PixelFormat.rgba,
    this.rowBytes,
    this.conversion = YuvConversion.bt601Full,
    this.orientation = PictureOrientation.up,
  });

  /// The planes of luma and chroma of a camera (YUV 4:2:0), which are copied without their gaps.
  ///
  /// Throws ModelException `badInput` for planes that are too small.
  factory Picture.yuv420({
    required PicturePlane y,
    required PicturePlane u,
    required PicturePlane v,
    required int width,
    required int height,
    YuvConversion conversion = YuvConversion.bt601Full,
    PictureOrientation orientation = PictureOrientation.up,
  }) {
    if (width < 2 || height < 2 || width.isOdd || height.isOdd) {
      throw ModelException(ModelErrorCode.badInput, 'luma and chroma have even sizes, found $width x $height');
    }
    final packed = Uint8List(width * height * 3 ~/ 2);
    _pack(packed, 0, 1, y, width, height);
    _pack(packed, width * height, 2, u, width ~/ 2, height ~/ 2);
    _pack(packed, width * height + 1, 2, v, width ~/ 2, height ~/ 2);
    return Picture(
      packed,
      width: width,
      height: height,
      format: PixelFormat.nv12,
      conversion: conversion,
      orientation: orientation,
    );
  }

  /// Its pixels, row after row.
  final Uint8List pixels;

  /// In pixels.
  final int width;

  /// In pixels.
  final int height;

  /// What a pixel is.
  final PixelFormat format;

  /// From the start of one row to that of the next; null where rows have no gaps between them.
  final int? rowBytes;

  /// For luma and chroma.
  final YuvConversion conversion;

  /// Where its upper side is.
  final PictureOrientation orientation;
}

void _pack(Uint8List packed, int start, int step, PicturePlane plane, int width, int height) {
  final needed = plane.bytesPerRow * (height - 1) + plane.bytesPerPixel * (width - 1) + 1;
  if (plane.bytesPerPixel < 1 || plane.bytesPerRow < 0 || plane.bytes.length < needed) {
    throw ModelException(
      ModelErrorCode.badInput,
      'a plane of $width x $height has ${plane.bytes.length} bytes instead of $needed',
    );
  }
  for (var row = 0, at = start; row < height; row++) {
    for (var column = 0, from = row * plane.bytesPerRow; column < width; column++) {
      packed[at] = plane.bytes[from];
      at += step;
      from += plane.bytesPerPixel;
    }
  }
}

/// What models take of a picture.
final class PictureTensors {
  /// The tensors of `picture`, the parameter `name`.
  ///
  /// Throws ModelException `badInput`, saying what is wrong with the picture.
  factory PictureTensors(String name, Picture picture) {
    final Picture(:width, :height, :format, :pixels) = picture;
    final places = format._chroma;
    if (width < 1 || height < 1) throw _refused(name, 'has $width x $height pixels');
    if (places != null && (width.isOdd || height.isOdd)) {
      throw _refused(name, 'has format ${format.name}, for which width and height are even numbers');
    }
    final row = width * format._bytesPerPixel;
    final rowBytes = picture.rowBytes ?? row;
    final rows = places == null ? height : height * 3 ~/ 2;
    if (rowBytes < row) throw _refused(name, 'has rowBytes $rowBytes, but a row has $row bytes');
    if (pixels.length < rowBytes * (rows - 1) + row) {
      throw _refused(name, 'has ${pixels.length} bytes, too few for $width x $height pixels of ${format.name}');
    }
    final chroma = places == null
        ? TensorInput(Uint8List(1), shape: const [1, 1, 1])
        : TensorInput(
            _rows(pixels, rowBytes * height, rowBytes, row, height ~/ 2),
            shape: [height ~/ 2, width ~/ 2, 2],
          );
    return PictureTensors._(
      pixels: TensorInput(_rows(pixels, 0, rowBytes, row, height), shape: [height, width, format._bytesPerPixel]),
      channels: TensorInput(format._channels),
      orientation: TensorInput([picture.orientation.index + 1]),
      chroma: chroma,
      conversion: TensorInput(places == null ? const [0, 0, 0] : [...places, picture.conversion.index + 1]),
    );
  }

  PictureTensors._({
    required this.pixels,
    required this.channels,
    required this.orientation,
    required this.chroma,
    required this.conversion,
  });

  /// Rows without gaps.
  final TensorInput<Uint8List> pixels;

  /// Where red, green and blue lie in a pixel.
  final TensorInput<List<int>> channels;

  /// Exif's number.
  final TensorInput<List<int>> orientation;

  /// U and V, of half the size.
  final TensorInput<Uint8List> chroma;

  /// Where U and V lie, and how they become colours.
  final TensorInput<List<int>> conversion;
}

/// Rows without gaps: a view where there are none.
Uint8List _rows(Uint8List pixels, int start, int rowBytes, int row, int rows) {
  if (rowBytes == row) return Uint8List.sublistView(pixels, start, start + row * rows);
  final packed = Uint8List(row * rows);
  for (var index = 0; index < rows; index++) {
    packed.setRange(index * row, (index + 1) * row, pixels, start + index * rowBytes);
  }
  return packed;
}

ModelException _refused(String name, String words) => ModelException(ModelErrorCode.badInput, 'picture `$name` $words');
