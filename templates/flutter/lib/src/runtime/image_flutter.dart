// Pictures of Flutter's engine.

import 'dart:async';
import 'dart:typed_data';
import 'dart:ui';

import 'errors.dart';
import 'picture.dart' as models;
import 'planes.dart';
import 'rgba.dart';

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

/// Pictures that models made.
extension ImageOfPicture on RgbaPicture {
  /// An image of it, to be shown by a `RawImage`. Dispose of it when it is no longer shown.
  Future<Image> toImage() {
    final made = Completer<Image>();
    decodeImageFromPixels(_premultiplied(), width, height, PixelFormat.rgba8888, made.complete);
    return made.future;
  }

  /// Flutter's engine takes colours that are multiplied by alpha.
  Uint8List _premultiplied() {
    final found = Uint8List.fromList(pixels);
    for (var at = 0; at < found.length; at++) {
      final alpha = pixels[at | 3];
      if (at % 4 != 3 && alpha != 255) found[at] = (pixels[at] * alpha + 127) ~/ 255;
    }
    return found;
  }
}
