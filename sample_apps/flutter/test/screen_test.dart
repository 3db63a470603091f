// The screen with the real model, in `flutter test`. The variable LIBRARY is the path of ONNX Runtime, where the system
// does not find it by its name.

import 'dart:async';
import 'dart:io';
import 'dart:typed_data';

import 'package:flutter/material.dart';
import 'package:flutter_test/flutter_test.dart';
import 'package:picture/chosen.dart';
import 'package:picture/models.dart';
import 'package:picture/screen.dart';
import 'package:vision_models/vision_models.dart';

LoadOptions optionsOf({ModelSource source = const ModelSource.bundled(), ModelObserver? observer}) =>
    LoadOptions(source: source, observer: observer, library: Platform.environment['LIBRARY']);

/// Fails once.
class Shy extends Models {
  Shy() : super(options: optionsOf());

  bool _hasFailed = false;

  @override
  Future<Classifier> load() {
    if (_hasFailed) return super.load();
    _hasFailed = true;
    throw const ModelException(ModelErrorCode.missing, 'The model is not there yet.');
  }
}

/// Shows a colour, and counts who turns it off.
class FakeCamera implements OpenCamera {
  final StreamController<Picture> source = StreamController();
  int closed = 0;

  @override
  Widget get preview => const ColoredBox(color: Colors.black, key: Key('preview'));

  @override
  Stream<Picture> get frames => source.stream;

  @override
  Future<void> close() async => closed++;
}

Future<Uint8List?> nobodyChooses() async => null;

Future<OpenCamera> noCamera() => throw Exception('The camera is not allowed.');

Widget screen({
  Models? models,
  Future<Uint8List?> Function() choosePicture = nobodyChooses,
  Future<OpenCamera> Function() openCamera = noCamera,
}) => MaterialApp(
  theme: ThemeData(splashFactory: NoSplash.splashFactory),
  home: PictureScreen(
    models: models ?? Models(options: optionsOf()),
    ownPicture: ownPicture,
    choosePicture: choosePicture,
    openCamera: openCamera,
  ),
);

/// Shows the screen on a phone.
Future<void> show(WidgetTester tester, Widget shown) {
  tester.view
    ..devicePixelRatio = 1
    ..physicalSize = const Size(400, 860);
  addTearDown(tester.view.reset);
  return tester.pumpWidget(shown);
}

/// Lets the model work, then draws, until something is there.
Future<void> pumpUntil(WidgetTester tester, Finder finder) async {
  for (var turn = 0; turn < 6000 && finder.evaluate().isEmpty; turn++) {
    await tester.runAsync(() => Future<void>.delayed(const Duration(milliseconds: 10)));
    await tester.pump();
  }
  expect(finder, findsAtLeast(1));
}

void main() {
  testWidgets('says what is in its own picture, and what runs the model', (tester) async {
    await show(tester, screen());
    expect(find.byType(LinearProgressIndicator), findsOneWidget);
    await pumpUntil(tester, find.text('espresso'));
    final rows = tester.widgetList<ClassRow>(find.byType(ClassRow)).toList();
    expect(rows, hasLength(5));
    expect(rows.first.found.label, 'espresso');
    debugPrint('classes ${[for (final each in rows) '${each.found.label}=${each.found.score}'].join(';')}');
    expect(find.textContaining('Model 1.0.0 on cpu'), findsOneWidget);
    expect(tester.widget<RawImage>(find.byType(RawImage)).image, isNotNull);
  });

  testWidgets('a file that is no picture, and a choice of none', (tester) async {
    final chosen = <Uint8List?>[Uint8List(9), null];
    await show(tester, screen(choosePicture: () async => chosen.removeAt(0)));
    await pumpUntil(tester, find.text('espresso'));
    await tester.tap(find.text('Choose a picture'));
    await pumpUntil(tester, find.textContaining('This is no picture'));
    expect(find.byType(ClassRow), findsNothing);
    await tester.tap(find.text('Choose a picture'));
    await tester.pump();
    expect(find.textContaining('This is no picture'), findsOneWidget);
  });

  testWidgets('looks at the frames of the camera until it is turned off', (tester) async {
    final camera = FakeCamera();
    await show(tester, screen(openCamera: () async => camera));
    await pumpUntil(tester, find.text('espresso'));
    await tester.tap(find.text('Use the camera'));
    await pumpUntil(tester, find.byKey(const Key('preview')));
    for (var frame = 0; frame < 30; frame++) {
      camera.source.add(Picture(Uint8List(64 * 64 * 4), width: 64, height: 64));
    }
    await pumpUntil(tester, find.byType(ClassRow));
    expect(find.text('espresso'), findsNothing);
    await tester.tap(find.text('Stop the camera'));
    await tester.pump();
    expect((camera.closed, camera.source.hasListener), (1, false));
    expect(find.text('Use the camera'), findsOneWidget);
  });

  testWidgets('a camera that is not allowed', (tester) async {
    await show(tester, screen());
    await pumpUntil(tester, find.text('espresso'));
    await tester.tap(find.text('Use the camera'));
    await pumpUntil(tester, find.textContaining('The camera is not allowed.'));
  });

  testWidgets('gives memory back when it is short, and looks at the next picture all the same', (tester) async {
    final told = <String>[];
    final observer = ModelObserver(
      onLoad: (_) => told.add('load'),
      onRun: (_) => told.add('run'),
      onRelease: (event) => told.add(event.reason.name),
    );
    await show(
      tester,
      screen(
        models: Models(options: optionsOf(observer: observer)),
        choosePicture: ownPicture,
      ),
    );
    await pumpUntil(tester, find.text('espresso'));
    tester.binding.handleMemoryPressure();
    expect(told, ['load', 'run', 'memory']);
    await tester.tap(find.text('Choose a picture'));
    for (var turn = 0; turn < 6000 && told.length < 5; turn++) {
      await tester.runAsync(() => Future<void>.delayed(const Duration(milliseconds: 10)));
      await tester.pump();
    }
    expect(told, ['load', 'run', 'memory', 'load', 'run']);
    await pumpUntil(tester, find.text('espresso'));
  });

  testWidgets('a model that does not load is tried again', (tester) async {
    await show(tester, screen(models: Shy()));
    await pumpUntil(tester, find.text('The model is not there yet.'));
    expect(tester.widget<TextButton>(find.widgetWithText(TextButton, 'Choose a picture')).onPressed, isNull);
    await tester.tap(find.text('Try again'));
    await pumpUntil(tester, find.text('espresso'));
  });

  testWidgets('a screen that goes takes its model along, whatever it is doing', (tester) async {
    await show(tester, screen());
    await tester.pumpWidget(const SizedBox());
    await tester.runAsync(() => Future<void>.delayed(const Duration(milliseconds: 500)));
    final camera = FakeCamera();
    await show(tester, screen(openCamera: () async => camera));
    await pumpUntil(tester, find.text('espresso'));
    await tester.tap(find.text('Use the camera'));
    await pumpUntil(tester, find.byKey(const Key('preview')));
    camera.source.add(Picture(Uint8List(64 * 64 * 4), width: 64, height: 64));
    await tester.pump();
    await tester.pumpWidget(const SizedBox());
    await tester.runAsync(() => Future<void>.delayed(const Duration(milliseconds: 500)));
    expect((camera.closed, camera.source.hasListener), (1, false));
    expect(tester.takeException(), isNull);
  });
}
