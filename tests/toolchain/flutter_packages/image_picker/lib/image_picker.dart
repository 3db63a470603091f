// What the sample app uses of the plugin `image_picker` 1.1, declared from its documentation: nothing of it runs.

import 'dart:typed_data';

enum ImageSource { camera, gallery }

class XFile {
  XFile(this.path);

  final String path;

  Future<Uint8List> readAsBytes() => throw UnimplementedError();
}

class ImagePicker {
  Future<XFile?> pickImage({required ImageSource source, double? maxWidth, double? maxHeight, int? imageQuality}) =>
      throw UnimplementedError();
}
