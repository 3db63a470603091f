// ignore_for_file: avoid_print

import 'package:every_thing/every_thing.dart';

/// Loads the model, runs it once and frees it.
Future<void> runOnce() async {
  final model = await Dice.load();
  final outputs = await model.run(const DiceInputs());
  print(outputs.eyes.data);
  await model.dispose();
}

/// Says what runs the model here, and whether it computes what it computed on the build machine.
Future<void> main() async {
  final model = await Dice.load();
  print('${model.info.name} ${model.info.version} on ${model.provider.name}');
  print(await model.selfTest());
  await model.dispose();
}
