// Runs the pipeline of the package `scanner`, and prints one line of JSON for each check: `NAME {...}`.
//
// Arguments: ONNX Runtime's library, and a file with pixels and with boxes to cut out.

import 'dart:convert';
import 'dart:io';
import 'dart:typed_data';

import 'package:scanner/scanner.dart';
import 'package:scanner/src/runtime/stages.dart';

void say(String name, Object? value) => print('$name ${jsonEncode(value)}');

Future<String> failureOf(Future<Object?> Function() call) async {
  try {
    await call();
    return 'none';
  } on ModelException catch (error) {
    return '${error.code.name}: ${error.message}';
  }
}

String line(ScanItem item, {required bool hasChroma}) {
  final ScanItem(box: Detection(:box, :score), :seen, :colour) = item;
  final corners = [box.left, box.top, box.right, box.bottom].map((each) => each.toStringAsFixed(1)).join(' ');
  return [
    '$corners ${score.toStringAsFixed(6)}',
    '${seen.size.data} ${seen.turned.data.single}',
    seen.seen.data.join(' '),
    if (hasChroma) seen.tint.data.join(' ') else '-',
    if (colour == null) 'null' else colour.map((each) => each.toStringAsFixed(6)).join(' '),
  ].join(' | ');
}

Future<void> scans(LoadOptions options, Uint8List small) async {
  final pipeline = await Scan.load(options);
  for (final orientation in PictureOrientation.values) {
    final stored = Picture(
      small,
      width: 7,
      height: 6,
      rowBytes: 28,
      orientation: orientation,
      region: const Region(1, 0, 6, 6),
    );
    final camera = Picture(
      Uint8List.sublistView(small, 0, 72),
      width: 8,
      height: 6,
      format: PixelFormat.nv21,
      orientation: orientation,
    );
    say('${orientation.index + 1}', [
      [for (final item in await pipeline.run(stored)) line(item, hasChroma: false)],
      [for (final item in await pipeline.run(camera)) line(item, hasChroma: true)],
    ]);
  }
  await pipeline.dispose();
}

Future<void> ends(LoadOptions options, Uint8List small) async {
  final runs = <String>[];
  final released = <String>[];
  void Function() onColour = () {};
  void Function() onProbe = () {};
  final observer = ModelObserver(
    onLoad: (event) {
      if (event.info.name == 'probe') onProbe();
    },
    onRun: (event) {
      runs.add(event.model);
      if (event.model == 'finder') onColour();
    },
    onRelease: (event) => released.add(event.model),
  );
  final watched = LoadOptions(library: options.library, observer: observer);
  Picture picture(int rows) => Picture(Uint8List.sublistView(small, 0, 16 * rows), width: 4, height: rows);

  final pipeline = await Scan.load(watched);
  say('nine rows', [await failureOf(() => pipeline.run(picture(9))), runs]);
  final cancellation = Cancellation();
  onColour = cancellation.cancel;
  runs.clear();
  say('cancelled', [await failureOf(() => pipeline.run(picture(6), cancellation: cancellation)), runs]);
  onColour = () {};
  say('run again', (await pipeline.run(picture(6))).length);
  await pipeline.dispose();
  await pipeline.dispose();
  say('disposed', [released, await failureOf(() => pipeline.run(picture(6)))]);
  released.clear();
  onProbe = () => Directory('models').listSync().firstWhere((each) => each.path.contains('finder')).deleteSync();
  say('not loaded', [await failureOf(() => Scan.load(watched)), released]);
}

/// The regions of boxes of pictures that have `format`.
List<Object> regions(List<Object?> rows, PixelFormat format) => [
  for (final row in rows.cast<List<Object?>>())
    switch ((row.take(3).cast<int>().toList(), row.skip(3).map((edge) => double.parse('$edge')).toList())) {
      ([final width, final height, final number], [final left, final top, final right, final bottom]) => () {
        final whole = Picture(
          Uint8List(0),
          width: width + 4,
          height: height + 4,
          format: format,
          orientation: PictureOrientation.ofExif(number),
          region: Region(2, 4, width + 2, height + 4),
        );
        final part = partOf(whole, Box(left, top, right, bottom)).region!;
        return [part.left - 2, part.top - 4, part.right - 2, part.bottom - 4];
      }(),
      _ => const <int>[],
    },
];

Future<void> main(List<String> arguments) async {
  final options = LoadOptions(library: arguments[0]);
  final given = jsonDecode(File(arguments[1]).readAsStringSync()) as Map<String, Object?>;
  final small = Uint8List.fromList((given['small']! as List<Object?>).cast<int>());
  final boxes = given['boxes']! as List<Object?>;
  say('regions', regions(boxes, PixelFormat.rgba));
  say('even regions', regions(boxes, PixelFormat.nv12));
  await scans(options, small);
  await ends(options, small);
  say('done', true);
}
