// ignore_for_file: avoid_print

import 'dart:typed_data';

import 'package:every_thing/every_thing.dart';

/// Loads the model, runs it once and frees it.
Future<void> runOnce(
  Float32List servingDefaultInput20,
  List<int> input53,
  Uint8List classValue,
  List<String> text,
  Int8List int8,
  Uint8List uint8,
  Int16List int16,
  Int32List int32,
  Uint16List float16,
  Uint16List bfloat16,
  Float64List double,
) async {
  final model = await EveryThingV2.load();
  final outputs = await model.run(
    EveryThingV2Inputs(
      servingDefaultInput20: TensorInput(servingDefaultInput20),
      input53: TensorInput(input53),
      classValue: TensorInput(classValue),
      text: TensorInput(text),
      int8: TensorInput(int8),
      uint8: TensorInput(uint8),
      int16: TensorInput(int16),
      int32: TensorInput(int32),
      float16: TensorInput(float16),
      bfloat16: TensorInput(bfloat16),
      double: TensorInput(double),
    ),
  );
  print(outputs.floatStatic.data);
  await model.dispose();
}

/// Says what runs the model here, and whether it computes what it computed on the build machine.
Future<void> main() async {
  final model = await EveryThingV2.load();
  print('${model.info.name} ${model.info.version} on ${model.provider.name}');
  print(await model.selfTest());
  await model.dispose();
}
