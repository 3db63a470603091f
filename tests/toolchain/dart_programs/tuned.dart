// Loads models of the package `models` on chips whose names the variable CHIP has, and prints a line of JSON for each:
// `NAME {...}`. Argument: ONNX Runtime's library.

import 'dart:convert';
import 'dart:ffi';
import 'dart:io';

import 'package:models/models.dart';
import 'package:models/src/models/chain.dart' show shown, shownVariants;
import 'package:models/src/runtime/memory.dart';
import 'package:models/src/runtime/system.dart';
import 'package:models/src/runtime/variants.dart';

const apps = {
  'usual': LoadOptions(),
  'off': LoadOptions(tuned: false),
  'own order': LoadOptions(providers: [Provider.nnapi]),
  'own threads': LoadOptions(threads: 1),
  'own setting': LoadOptions(
    providerOptions: {
      Provider.xnnpack: {'own': '1'},
    },
  ),
};

void become(String chip) {
  final set = DynamicLibrary.process()
      .lookupFunction<Int Function(Pointer<Void>, Pointer<Void>, Int), int Function(Pointer<Void>, Pointer<Void>, int)>(
        'setenv',
      );
  withArena((arena) => set(arena.text('CHIP'), arena.text(chip), 1));
}

int threads() {
  final line = File('/proc/self/status').readAsLinesSync().firstWhere((line) => line.startsWith('Threads'));
  return int.parse(RegExp(r'\d+').firstMatch(line)!.group(0)!);
}

Map<String, Object?> applied(LoadOptions options, String? platform) {
  final found = shown.tuning!.applied(options, chip: chipName(), platform: platform);
  return {
    'providers': found.providers?.map((each) => each.name).toList(),
    'threads': found.threads,
    'options': found.providerOptions.map((provider, entries) => MapEntry(provider.name, entries)),
  };
}

Future<void> main(List<String> arguments) async {
  final usual = LoadOptions(library: arguments.single);
  for (final chip in ['SM8650', 'Tensor G3', 'iPhone17,1', 'unknown']) {
    become(chip);
    final before = threads();
    final chain = await Chain.load(usual);
    final after = threads();
    final plain = await Plain.load(usual);
    final off = await Chain.load(LoadOptions(library: arguments.single, tuned: false));
    final order = await Chain.load(LoadOptions(library: arguments.single, providers: [Provider.nnapi]));
    final alone = await Chain.load(LoadOptions(library: arguments.single, threads: 1));
    final chains = {'usual': chain, 'off': off, 'own order': order, 'own threads': alone};
    final facts = {
      'chain': [for (final each in chain.fallbacks) each.provider.name],
      'threads': after - before,
      'plain': [for (final each in plain.fallbacks) each.provider.name],
      'off': [for (final each in off.fallbacks) each.provider.name],
      'files': chains.map((name, model) => MapEntry(name, model.info.file)),
      'tested': {
        for (final MapEntry(key: name, value: model) in chains.entries) name: (await model.selfTest()).passed,
        'plain': (await plain.selfTest()).passed,
      },
      'on ios': [
        for (final file in chosen(shown, shownVariants, const LoadOptions()).setups['ios']!.files)
          [file.file.name, file.chips],
      ],
      'android': applied(const LoadOptions(), 'android'),
      'ios': applied(const LoadOptions(), 'ios'),
    };
    await Future.wait([plain.dispose(), ...chains.values.map((model) => model.dispose())]);
    print('$chip\t${jsonEncode(facts)}');
  }
  become('SM8650');
  print('apps\t${jsonEncode(apps.map((name, options) => MapEntry(name, applied(options, null))))}');
}
