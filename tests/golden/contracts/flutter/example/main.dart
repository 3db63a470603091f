// ignore_for_file: avoid_print

import 'dart:typed_data';

import 'package:contracts/contracts.dart';

/// Loads the model, runs it once and frees it.
Future<void> classifyOnce(Uint8List pixels, int width, int height) async {
  final model = await Classifier.load();
  print(await model.classify(Picture(pixels, width: width, height: height)));
  await model.dispose();
}

/// Says what runs the model here, and whether it computes what it computed on the build machine.
Future<void> main() async {
  final model = await Classifier.load();
  print('${model.info.name} ${model.info.version} on ${model.provider.name}');
  print(await model.selfTest());
  await model.dispose();
}
