/// The camera of the device, by the plugin `camera`.
library;

import 'dart:async';

import 'package:camera/camera.dart';
import 'package:flutter/widgets.dart';
import 'package:vision_models/vision_models.dart';

import 'screen.dart';

/// Turns on the camera at the back. Throws a [CameraException], for example because nobody allowed it.
Future<OpenCamera> openCamera() async {
  final cameras = await availableCameras();
  if (cameras.isEmpty) throw CameraException('none', 'There is no camera.');
  final back = cameras.firstWhere(
    (each) => each.lensDirection == CameraLensDirection.back,
    orElse: () => cameras.first,
  );
  final controller = CameraController(back, ResolutionPreset.medium, enableAudio: false);
  await controller.initialize();
  return DeviceCamera(controller);
}

/// A camera of the plugin.
class DeviceCamera implements OpenCamera {
  /// Takes a camera that is on.
  DeviceCamera(this._controller) {
    _frames
      ..onListen = () {
        unawaited(_controller.startImageStream(_give));
      }
      ..onCancel = () => _controller.value.isStreamingImages ? _controller.stopImageStream() : null;
  }

  final CameraController _controller;
  final StreamController<Picture> _frames = StreamController();

  @override
  Widget get preview => CameraPreview(_controller);

  @override
  Stream<Picture> get frames => _frames.stream;

  @override
  Future<void> close() async {
    await _controller.dispose();
  }

  void _give(CameraImage image) {
    if (!_frames.isClosed) _frames.add(pictureOf(image, _controller.description.sensorOrientation));
  }
}

/// A frame for the model: three planes of luma and chroma on Android, one of BGRA on iOS. `sensorOrientation` says by how
/// many degrees it is to be turned clockwise on Android; iOS turns frames itself.
Picture pictureOf(CameraImage image, int sensorOrientation) {
  final CameraImage(:width, :height, :planes) = image;
  if (image.format.group == ImageFormatGroup.bgra8888) {
    final Plane(:bytes, :bytesPerRow) = planes.first;
    return Picture(bytes, width: width, height: height, format: PixelFormat.bgra, rowBytes: bytesPerRow);
  }
  final [y, u, v] = [for (final plane in planes) _planeOf(plane)];
  return Picture.yuv420(y: y, u: u, v: v, width: width, height: height, orientation: _turned(sensorOrientation));
}

PicturePlane _planeOf(Plane plane) =>
    PicturePlane(plane.bytes, bytesPerRow: plane.bytesPerRow, bytesPerPixel: plane.bytesPerPixel ?? 1);

PictureOrientation _turned(int degrees) => switch (degrees) {
  90 => PictureOrientation.right,
  180 => PictureOrientation.down,
  270 => PictureOrientation.left,
  _ => PictureOrientation.up,
};
