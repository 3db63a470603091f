// An app of Flutter on a page that takes models from the channel at the global `channel`; leaves JSON of all that it
// found in the global `said`.

import 'dart:convert';
import 'dart:js_interop';
import 'dart:js_interop_unsafe';
import 'dart:typed_data';

import 'package:models/models.dart';

final Map<String, Object?> said = {};
final Float32List input = Float32List.fromList([for (var at = 0; at < 64; at++) at / 64]);

Future<List<Object?>> loaded(ModelSource source) async {
  final kinds = <String>[];
  final progress = <int>[];
  final model = await Scorer.load(
    LoadOptions(
      source: source,
      observer: ModelObserver(onLoad: (event) => kinds.add(event.source.name)),
      onProgress: (loadedBytes, totalBytes) => progress.add(totalBytes - loadedBytes),
    ),
  );
  final outputs = await model.run(ScorerInputs(x: TensorInput(input, shape: const [1, 64])));
  final sum = outputs.y.data.fold<double>(0, (total, each) => total + each);
  final found = [model.info.version, sum, kinds.single, progress.isEmpty ? null : progress.last];
  await model.dispose();
  return found;
}

Future<String> codeOf(Future<Object?> Function() call) async {
  try {
    await call();
    return 'none';
  } on ModelException catch (error) {
    return error.code.name;
  }
}

Future<void> main() async {
  try {
    final bans = <String>[];
    final updater = ModelUpdater(
      globalContext.getProperty<JSString>('channel'.toJS).toDart,
      options: UpdateOptions(
        load: LoadOptions(observer: ModelObserver(onBan: (ban) => bans.add('${ban.model} ${ban.version}'))),
      ),
    );
    final phases = <String>{};
    updater.changes.listen((states) => phases.add(states['scorer']!.phase.name));
    said['before'] = [updater.states['scorer']!.phase.name, updater.states['scorer']!.version];
    said['own'] = await loaded(updater.source);
    await updater.update();
    said['bans'] = bans;
    final states = await updater.update(force: true);
    said['state'] = ['${states['scorer']}', states.length];
    said['newer'] = await loaded(updater.source);
    said['phases'] = phases.toList();
    await updater.freeze();
    said['frozen'] = (await updater.update(force: true))['scorer']!.phase.name;
    await updater.unfreeze();
    await updater.remove();
    said['removed'] = await loaded(updater.source);
    final cancelled = Cancellation()..cancel();
    said['errors'] = [
      await codeOf(() => updater.update(force: true, cancellation: cancelled)),
      await codeOf(() => updater.pin('nobody', '1.0.0')),
      await codeOf(() async => ModelUpdater('http://models.example.com/')),
      await codeOf(() => Scorer.load(LoadOptions(cancellation: cancelled))),
    ];
    await updater.pin('scorer', '9.9.9');
    said['pinned'] = (await updater.update(force: true))['scorer']!.phase.name;
  } on Object catch (error, trace) {
    said['failure'] = '$error $trace';
  }
  globalContext.setProperty('said'.toJS, jsonEncode(said).toJS);
}
