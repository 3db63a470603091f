// The sample app's screen with a channel, whose address is defined where this is compiled.

import 'dart:async';
import 'dart:io';

import 'package:flutter/material.dart';
import 'package:flutter_test/flutter_test.dart';
import 'package:picture/chosen.dart';
import 'package:picture/models.dart';
import 'package:picture/screen.dart';
import 'package:vision_models/vision_models.dart';

final LoadOptions options = LoadOptions(library: Platform.environment['LIBRARY']!);

/// Starts the app anew.
Future<void> start(WidgetTester tester) async {
  tester.view
    ..devicePixelRatio = 1
    ..physicalSize = const Size(400, 1000);
  addTearDown(tester.view.reset);
  await tester.pumpWidget(
    MaterialApp(
      key: UniqueKey(),
      theme: ThemeData(splashFactory: NoSplash.splashFactory),
      home: PictureScreen(
        models: Models(options: options),
        ownPicture: ownPicture,
        choosePicture: () async => null,
        openCamera: () => throw Exception('none'),
      ),
    ),
  );
  await pumpUntil(tester, find.text('espresso'));
}

Future<void> pumpUntil(WidgetTester tester, Finder finder) async {
  for (var turn = 0; turn < 6000 && finder.evaluate().isEmpty; turn++) {
    await tester.runAsync(() => Future<void>.delayed(const Duration(milliseconds: 10)));
    await tester.pump(const Duration(milliseconds: 10));
  }
  expect(finder, findsOneWidget);
}

void main() {
  TestWidgetsFlutterBinding.ensureInitialized();
  HttpOverrides.global = null; // tests of widgets have no network otherwise

  testWidgets('looks for a newer model, which the next start opens', (tester) async {
    await start(tester);
    expect(find.textContaining('Model 1.0.0 on cpu'), findsOneWidget);
    await tester.tap(find.text('Look for a newer model'));
    await pumpUntil(tester, find.text('The next start opens model 1.1.0.'));
    await start(tester);
    expect(find.textContaining('Model 1.1.0 on cpu'), findsOneWidget);
    await tester.tap(find.text('Look for a newer model'));
    await pumpUntil(tester, find.text('Model 1.1.0 is the newest.'));
    await tester.pumpWidget(const SizedBox());
  });
}
