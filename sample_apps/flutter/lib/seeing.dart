/// The app's state, without a widget: what the model sees.
library;

import 'dart:async';
import 'dart:ui' as ui;

import 'package:flutter/foundation.dart';
import 'package:vision_models/images.dart';
import 'package:vision_models/vision_models.dart';

import 'models.dart';

/// The longest side of a picture that the model gets, in pixels: it looks at 224 of them.
const int longestSide = 1024;

/// Loads a model, and keeps what it sees in the latest picture.
class Seeing extends ChangeNotifier {
  /// Takes the models that [load] opens.
  Seeing(this._models);

  final Models _models;
  Classifier? _model;
  Cancellation? _underWay;
  StreamSubscription<List<Classification>>? _frames;
  bool _isDisposed = false;

  /// The picture, upright; null before the first one.
  ui.Image? picture;

  /// Classes of the picture, best first.
  List<Classification> classes = const [];

  /// Why there are no classes; empty if there are some, or if they are to come.
  String problem = '';

  /// Whether classes are to come.
  bool isWorking = false;

  /// The model, loaded.
  Classifier? get model => _model;

  /// Whether frames of the camera are looked at.
  bool get isWatching => _frames != null;

  /// Loads the model; where that fails, the next call tries again.
  Future<void> load() async {
    if (_model != null) return;
    _tell(isWorking: true);
    try {
      final model = await _models.load();
      if (_isDisposed) return await model.dispose();
      _model = model;
      _tell();
    } on ModelException catch (error) {
      _tell(problem: error.message);
    }
  }

  /// Looks at a file with a picture; the run for the one before ends.
  Future<void> look(Uint8List file) async {
    stop();
    final cancellation = _underWay = Cancellation();
    _tell(isWorking: true);
    try {
      final image = await _decoded(file);
      if (cancellation.isCancelled) return image.dispose();
      picture?.dispose();
      picture = image;
      final found = await _model?.classify(await image.toPicture(), cancellation: cancellation);
      if (!cancellation.isCancelled) _tell(classes: found ?? const []);
    } on ModelException catch (error) {
      if (!cancellation.isCancelled) _tell(problem: error.message);
    } on Exception catch (error) {
      if (!cancellation.isCancelled) _tell(problem: 'This is no picture that can be opened: $error');
    }
  }

  /// Looks at frames until [stop]: those that come while the model is busy are dropped.
  void watch(Stream<Picture> frames) {
    stop();
    _frames = _model
        ?.frames(frames)
        .listen(
          (found) => _tell(classes: found),
          onError: (Object error) => _tell(problem: error is ModelException ? error.message : '$error'),
        );
    _tell(isWorking: true);
  }

  /// Ends what is under way.
  void stop() {
    _underWay?.cancel();
    _underWay = null;
    unawaited(_frames?.cancel());
    _frames = null;
  }

  /// Shows why there is no picture.
  void fail(Object error) => _tell(problem: '$error');

  @override
  void dispose() {
    _isDisposed = true;
    stop();
    picture?.dispose();
    unawaited(_model?.dispose());
    super.dispose();
  }

  void _tell({List<Classification> classes = const [], String problem = '', bool isWorking = false}) {
    if (_isDisposed) return;
    this.classes = classes;
    this.problem = problem;
    this.isWorking = isWorking;
    notifyListeners();
  }
}

/// A picture of a file, turned upright, no larger than the model needs.
Future<ui.Image> _decoded(Uint8List file) async {
  final buffer = await ui.ImmutableBuffer.fromUint8List(file);
  final codec = await ui.instantiateImageCodecWithSize(
    buffer,
    getTargetSize: (width, height) => width > height
        ? ui.TargetImageSize(width: width > longestSide ? longestSide : null)
        : ui.TargetImageSize(height: height > longestSide ? longestSide : null),
  );
  try {
    return (await codec.getNextFrame()).image;
  } finally {
    codec.dispose();
  }
}
