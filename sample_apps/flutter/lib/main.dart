/// Says what is in a picture, or before the camera.
library;

import 'package:flutter/material.dart';

import 'camera.dart';
import 'chosen.dart';
import 'models.dart';
import 'screen.dart';

void main() => runApp(const PictureApp());

/// The app: one screen.
class PictureApp extends StatelessWidget {
  /// With the plugins of the device.
  const PictureApp({super.key});

  @override
  Widget build(BuildContext context) => MaterialApp(
    title: 'What is it?',
    theme: ThemeData(colorSchemeSeed: Colors.indigo),
    home: const PictureScreen(
      models: Models(),
      ownPicture: ownPicture,
      choosePicture: choosePicture,
      openCamera: openCamera,
    ),
  );
}
