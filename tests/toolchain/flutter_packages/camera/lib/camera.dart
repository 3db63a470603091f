// What the sample app uses of the plugin `camera` 0.11, declared from its documentation: nothing of it runs.

import 'dart:typed_data';

import 'package:flutter/foundation.dart';
import 'package:flutter/widgets.dart';

enum CameraLensDirection { front, back, external }

enum ResolutionPreset { low, medium, high, veryHigh, ultraHigh, max }

enum ImageFormatGroup { unknown, yuv420, bgra8888, jpeg, nv21 }

class CameraException implements Exception {
  CameraException(this.code, this.description);

  final String code;
  final String? description;
}

class CameraDescription {
  const CameraDescription({required this.name, required this.lensDirection, required this.sensorOrientation});

  final String name;
  final CameraLensDirection lensDirection;
  final int sensorOrientation;
}

class ImageFormat {
  const ImageFormat(this.group, {required this.raw});

  final ImageFormatGroup group;
  final dynamic raw;
}

class Plane {
  const Plane({required this.bytes, required this.bytesPerRow, this.bytesPerPixel});

  final Uint8List bytes;
  final int bytesPerRow;
  final int? bytesPerPixel;
}

class CameraImage {
  const CameraImage({required this.format, required this.height, required this.width, required this.planes});

  final ImageFormat format;
  final int height;
  final int width;
  final List<Plane> planes;
}

class CameraValue {
  const CameraValue({required this.isStreamingImages});

  final bool isStreamingImages;
}

class CameraController extends ValueNotifier<CameraValue> {
  CameraController(this.description, this.resolutionPreset, {this.enableAudio = true, this.imageFormatGroup})
    : super(const CameraValue(isStreamingImages: false));

  final CameraDescription description;
  final ResolutionPreset resolutionPreset;
  final bool enableAudio;
  final ImageFormatGroup? imageFormatGroup;

  Future<void> initialize() => throw UnimplementedError();

  Future<void> startImageStream(void Function(CameraImage image) onAvailable) => throw UnimplementedError();

  Future<void> stopImageStream() => throw UnimplementedError();

  @override
  Future<void> dispose() async => super.dispose();
}

class CameraPreview extends StatelessWidget {
  const CameraPreview(this.controller, {super.key, this.child});

  final CameraController controller;
  final Widget? child;

  @override
  Widget build(BuildContext context) => throw UnimplementedError();
}

Future<List<CameraDescription>> availableCameras() => throw UnimplementedError();
