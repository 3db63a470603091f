// From a picture, as cameras and decoders have it, to the tensors of a model.

import 'dart:typed_data';

import 'errors.dart';
import 'planes.dart';
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
  nv21(1, [0, 0, 0], [1, 0]),

  /// Like [nv12] with 10 bits, in the upper bits of 16.
  p010(2, [1, 1, 1], [1, 3]);

  const PixelFormat(this._bytesPerPixel, this._channels, [this._chroma]);

  final int _bytesPerPixel;
  final List<int> _channels;
  final List<int>? _chroma;

  /// Whether two pixels share a sample of chroma, across and down.
  bool get hasChroma => _chroma != null;
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

  /// Like [up], mirrored.
  upMirrored,

  /// The last row is the upper one.
  down,

  /// Like [down], mirrored.
  downMirrored,

  /// Like [left], mirrored.
  leftMirrored,

  /// To be turned clockwise by 90 degrees.
  right,

  /// Like [right], mirrored.
  rightMirrored,

  /// To be turned counter-clockwise by 90 degrees.
  left;

  /// By Exif's number, 1 to 8; [up] for any other.
  static PictureOrientation ofExif(int number) => values.elementAtOrNull(number - 1) ?? up;

  /// By the clockwise turn that makes the picture upright: 0, 90, 180 or 270 degrees, or these and whole turns, such as
  /// the `sensorOrientation` of the plugin `camera` on a phone that is held upright.
  ///
  /// Throws ModelException `badInput` for any other.
  static PictureOrientation ofRotation(int degrees) => switch (degrees % 360) {
    0 => up,
    90 => right,
    180 => down,
    270 => left,
    _ => throw ModelException(
      ModelErrorCode.badInput,
      'the rotation is $degrees degrees, which is not one of 0, 90, 180 and 270',
    ),
  };
}

/// A picture of any size.
final class Picture {
  /// Pixels, row after row. Alpha is ignored: transparent pixels count with their colour. Luma and chroma have an even
  /// width and height; the rows of chroma follow those of luma, with the same `rowBytes`, or are in `chroma`.
  const Picture(
    this.pixels, {
    required this.width,
    required this.height,
    this.format = PixelFormat.rgba,
    this.rowBytes,
    this.chroma,
    this.chromaRowBytes,
    this.conversion = YuvConversion.bt601Full,
    this.orientation = PictureOrientation.up,
    this.region,
  });

  /// The planes of luma and chroma of a camera (YUV 4:2:0). Of three planes those of chroma are copied; of two, as iOS
  /// has them, `u` is that of U and V together, and nothing is copied.
  ///
  /// Throws ModelException `badInput` for planes that are too small.
  factory Picture.yuv420({
    required PicturePlane y,
    required PicturePlane u,
    required int width,
    required int height,
    PicturePlane? v,
    YuvConversion conversion = YuvConversion.bt601Full,
    PictureOrientation orientation = PictureOrientation.up,
    Region? region,
  }) {
    if (width < 2 || height < 2 || width.isOdd || height.isOdd) {
      throw ModelException(ModelErrorCode.badInput, 'luma and chroma have even sizes, found $width x $height');
    }
    var (luma, lumaRow) = (y.bytes, y.bytesPerRow);
    if (y.bytesPerPixel != 1) {
      packPlane(luma = Uint8List(width * height), 0, 1, y, width, height);
      lumaRow = width;
    }
    var (chroma, chromaRow) = (u.bytes, u.bytesPerRow);
    if (v != null) {
      chroma = Uint8List(width * height ~/ 2);
      packPlane(chroma, 0, 2, u, width ~/ 2, height ~/ 2);
      packPlane(chroma, 1, 2, v, width ~/ 2, height ~/ 2);
      chromaRow = width;
    }
    return Picture(
      luma,
      width: width,
      height: height,
      format: PixelFormat.nv12,
      rowBytes: lumaRow,
      chroma: chroma,
      chromaRowBytes: chromaRow,
      conversion: conversion,
      orientation: orientation,
      region: region,
    );
  }

  /// The single plane of a camera: `bgra` on iOS, `nv21` on Android.
  factory Picture.plane(
    PicturePlane plane, {
    required int width,
    required int height,
    required PixelFormat format,
    YuvConversion conversion = YuvConversion.bt601Full,
    PictureOrientation orientation = PictureOrientation.up,
    Region? region,
  }) => Picture(
    plane.bytes,
    width: width,
    height: height,
    format: format,
    rowBytes: plane.bytesPerRow,
    conversion: conversion,
    orientation: orientation,
    region: region,
  );

  /// Its pixels, row after row.
  final Uint8List pixels;

  /// In pixels.
  final int width;

  /// In pixels.
  final int height;

  /// Format of a pixel.
  final PixelFormat format;

  /// From the start of one row to that of the next; null where rows have no gaps between them.
  final int? rowBytes;

  /// The rows of chroma, where they do not follow those of luma.
  final Uint8List? chroma;

  /// From the start of one row of [chroma] to that of the next; null where they have no gaps between them.
  final int? chromaRowBytes;

  /// For luma and chroma.
  final YuvConversion conversion;

  /// Where its upper side is.
  final PictureOrientation orientation;

  /// The part for the model; null for the whole picture. Its edges are even for luma and chroma. Results refer to it.
  final Region? region;
}

/// Tensors that models take of a picture.
final class PictureTensors {
  /// The tensors of `picture`, the parameter `name`.
  ///
  /// Throws ModelException `badInput`, saying what is wrong with the picture.
  factory PictureTensors(String name, Picture picture) {
    final Picture(:width, :height, :format, :conversion) = picture;
    if (width < 1 || height < 1) throw refusedPicture(name, 'has $width x $height pixels');
    final region = picture.region ?? Region(0, 0, width, height);
    if (!region.isWithin(width, height)) {
      throw refusedPicture(name, 'has region $region, which is no part of $width x $height pixels');
    }
    final places = format._chroma;
    final isEven = width.isEven && height.isEven && region.isEven;
    if (places != null && !isEven) {
      throw refusedPicture(
        name,
        'has format ${format.name}, for which width, height and the edges of a region are even numbers',
      );
    }
    final rows = Rows(
      picture.pixels,
      name,
      width: width,
      height: places != null && picture.chroma == null ? height * 3 ~/ 2 : height,
      pixelBytes: format._bytesPerPixel,
      rowBytes: picture.rowBytes,
    );
    return PictureTensors._(
      pixels: rows.part(region),
      channels: TensorInput(format._channels),
      orientation: TensorInput([picture.orientation.index + 1]),
      chroma: places == null
          ? TensorInput(Uint8List(1), shape: const [1, 1, 1])
          : _chroma(name, picture, rows).part(region.half),
      conversion: TensorInput(places == null ? const [0, 0, 0] : [...places, conversion.index + 1]),
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

/// The rows of chroma: those of their own, else those that follow luma.
Rows _chroma(String name, Picture picture, Rows luma) {
  final Picture(:chroma, :width, :height) = picture;
  final pixelBytes = 2 * picture.format._bytesPerPixel;
  if (chroma == null) return luma.after(height, pixelBytes);
  return Rows(
    chroma,
    name,
    width: width ~/ 2,
    height: height ~/ 2,
    pixelBytes: pixelBytes,
    rowBytes: picture.chromaRowBytes,
  );
}
