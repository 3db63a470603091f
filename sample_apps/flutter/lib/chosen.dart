/// Pictures of the app and of the device, as files.
library;

import 'package:flutter/services.dart';
import 'package:image_picker/image_picker.dart';

/// The picture that comes with the app.
Future<Uint8List> ownPicture() async => Uint8List.sublistView(await rootBundle.load('assets/coffee.jpg'));

/// A picture of the device; null when nobody chose one.
Future<Uint8List?> choosePicture() async {
  final chosen = await ImagePicker().pickImage(source: ImageSource.gallery);
  return chosen?.readAsBytes();
}
