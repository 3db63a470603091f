// Pictures that models make.

import 'dart:typed_data';

import 'tensor.dart';

/// A picture that a model made: the first byte of a pixel is at `4 * (y * width + x)`.
final class RgbaPicture {
  /// Made by this package.
  const RgbaPicture(this.width, this.height, this.pixels);

  /// In pixels.
  final int width;

  /// In pixels.
  final int height;

  /// Red, green, blue and alpha of each pixel; colours are not multiplied by alpha.
  final Uint8List pixels;

  @override
  String toString() => '$width x $height pixels';
}

/// The picture of the model's tensor.
RgbaPicture rgbaPictureOf(Tensor<Uint8List> pixels) {
  final [height, width, _] = pixels.shape;
  return RgbaPicture(width, height, pixels.data);
}
