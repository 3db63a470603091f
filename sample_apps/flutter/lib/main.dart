/// Says what is in a picture, or before the camera.
library;

import 'package:flutter/material.dart';

import 'camera.dart';
import 'chosen.dart';
import 'models.dart';
import 'screen.dart';

void main() => runApp(PictureApp(models: Models()));

/// The app: one screen.
class PictureApp extends StatelessWidget {
  /// With the plugins of the device.
  const PictureApp({super.key, required this.models});

  /// Where the model comes from.
  final Models models;

  @override
  Widget build(BuildContext context) => MaterialApp(
    title: 'What is it?',
    theme: ThemeData(colorSchemeSeed: Colors.indigo),
    home: PictureScreen(models: models, ownPicture: ownPicture, choosePicture: choosePicture, openCamera: openCamera),
  );
}
