// Pictures of Flutter's engine.

import 'dart:ui';

import 'errors.dart';
import 'picture.dart' as models;
import 'planes.dart';

/// Pictures that Flutter has decoded or drawn.
extension PictureOfImage on Image {
  /// Its pixels, copied. They are upright: Flutter turns photos when it decodes them. What is transparent is black.
  ///
  /// Throws ModelException `badInput` for an image that was disposed of or has no pixels.
  Future<models.Picture> toPicture({Region? region}) async {
    final pixels = await toByteData();
    if (pixels == null) throw const ModelException(ModelErrorCode.badInput, 'the image has no pixels');
    final bytes = pixels.buffer.asUint8List(pixels.offsetInBytes, pixels.lengthInBytes);
    return models.Picture(bytes, width: width, height: height, region: region);
  }
}
