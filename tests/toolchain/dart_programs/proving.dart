// Loads a model of the package `proved` with a proof of the provider that lies, and prints a line of facts for each load:
// `BEHAVIOUR {...}`. Arguments: ONNX Runtime's library, and behaviours. With the variable BACKGROUND a behaviour is loaded
// until it is proved.

import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

import 'package:proved/proved.dart';

final bool inBackground = Platform.environment.containsKey('BACKGROUND');

Future<void> main(List<String> arguments) async {
  final [library, ...behaviours] = arguments;
  final size = Products.inputs.single.shape.fold(1, (product, size) => product * size!);
  final input = ProductsInputs(
    x: TensorInput(Float32List.fromList([for (var index = 0; index < size; index++) index % 7])),
  );
  final cpu = await Products.load(LoadOptions(library: library, providers: [Provider.cpu]));
  final right = (await cpu.run(input)).y.data;

  Future<bool> load(String behaviour) async {
    var told = const <String>[];
    final model = await Products.load(
      LoadOptions(
        library: library,
        providers: [Provider.liar],
        // A busy machine is slow, and whoever hangs is so for ever.
        proof: Proof(limit: Duration(seconds: behaviour == 'hang' ? 3 : 60), inBackground: inBackground),
        providerOptions: {
          Provider.liar: {'behaviour': behaviour},
        },
        observer: ModelObserver(onLoad: (event) => told = [for (final each in event.fallbacks) each.reason]),
      ),
    );
    final found = (await model.run(input)).y.data;
    bool isRight(int place) => (found[place] - right[place]).abs() <= 1e-4 * right[place].abs();
    final facts = {
      'provider': model.provider.name,
      'proofs': [
        for (final each in model.info.proofs)
          {
            'isProved': each.isProved,
            'reason': each.reason,
            'isMeasured': each.seconds != null && each.cpuSeconds != null,
          },
      ],
      'fallbacks': [for (final each in model.fallbacks) each.reason],
      'told': told,
      'isRight': [for (var place = 0; place < right.length; place++) place].every(isRight),
    };
    stdout.writeln('$behaviour\t${jsonEncode(facts)}');
    await stdout.flush();
    final isProved = model.provider == Provider.liar;
    await model.dispose();
    return isProved;
  }

  for (final behaviour in behaviours) {
    while (!await load(behaviour) && inBackground) {}
  }
  exit(0); // A thread of the provider may hang.
}
