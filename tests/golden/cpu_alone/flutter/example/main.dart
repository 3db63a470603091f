// ignore_for_file: avoid_print

import 'dart:typed_data';

import 'package:cpu_alone/cpu_alone.dart';

/// Loads the model, runs it once and frees it.
Future<void> runOnce(Float32List x) async {
  final model = await Classifier.load();
  final outputs = await model.run(ClassifierInputs(x: TensorInput(x)));
  print(outputs.logits.data);
  await model.dispose();
}

/// Says what runs the model here.
Future<void> main() async {
  final model = await Classifier.load();
  print('${model.info.name} ${model.info.version} on ${model.provider.name}');
  await model.dispose();
}
