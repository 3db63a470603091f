/// The screen: a picture or the camera, and what the model sees.
library;

import 'dart:async';
import 'dart:typed_data';

import 'package:flutter/material.dart';
import 'package:vision_models/vision_models.dart' show Classification, Classifier, Picture, releaseUnusedModels;

import 'channel.dart';
import 'models.dart';
import 'seeing.dart';

/// A camera that is on.
abstract interface class OpenCamera {
  /// Picture of the camera.
  Widget get preview;

  /// The same, for the model.
  Stream<Picture> get frames;

  /// Turns it off.
  Future<void> close();
}

/// A picture or the camera, and what the model sees.
class PictureScreen extends StatefulWidget {
  /// With what the device has.
  const PictureScreen({
    super.key,
    required this.models,
    required this.ownPicture,
    required this.choosePicture,
    required this.openCamera,
  });

  /// Where the model comes from.
  final Models models;

  /// The file of the app's own picture.
  final Future<Uint8List> Function() ownPicture;

  /// A file that somebody chooses; null when nobody does.
  final Future<Uint8List?> Function() choosePicture;

  /// Turns the camera on.
  final Future<OpenCamera> Function() openCamera;

  @override
  State<PictureScreen> createState() => _PictureScreenState();
}

class _PictureScreenState extends State<PictureScreen> with WidgetsBindingObserver {
  late final Seeing _seeing = Seeing(widget.models);
  OpenCamera? _camera;

  @override
  void initState() {
    super.initState();
    WidgetsBinding.instance.addObserver(this);
    unawaited(_start());
  }

  /// The system wants memory: a model that nothing runs gives its own back until its next run.
  @override
  void didHaveMemoryPressure() => releaseUnusedModels();

  @override
  void dispose() {
    WidgetsBinding.instance.removeObserver(this);
    unawaited(_camera?.close());
    _seeing.dispose();
    super.dispose();
  }

  Future<void> _start() async {
    await _seeing.load();
    if (_seeing.model != null) await _look(widget.ownPicture);
  }

  Future<void> _look(Future<Uint8List?> Function() choose) async {
    try {
      await _closeCamera();
      final file = await choose();
      if (file != null && mounted) await _seeing.look(file);
    } on Exception catch (error) {
      if (mounted) _seeing.fail(error);
    }
  }

  Future<void> _switchCamera() async {
    if (_camera != null) return _closeCamera();
    try {
      final camera = await widget.openCamera();
      if (!mounted) return await camera.close();
      setState(() => _camera = camera);
      _seeing.watch(camera.frames);
    } on Exception catch (error) {
      if (mounted) _seeing.fail(error);
    }
  }

  Future<void> _closeCamera() async {
    final camera = _camera;
    if (camera == null) return;
    setState(() => _camera = null);
    _seeing.stop();
    await camera.close();
  }

  @override
  Widget build(BuildContext context) => Scaffold(
    appBar: AppBar(title: const Text('What is it?')),
    body: ListenableBuilder(
      listenable: _seeing,
      builder: (context, _) => ListView(
        padding: const EdgeInsets.all(16),
        children: [
          AspectRatio(
            aspectRatio: 3 / 2,
            child: _camera?.preview ?? RawImage(image: _seeing.picture, fit: BoxFit.cover),
          ),
          const SizedBox(height: 16),
          if (_seeing.isWorking) const LinearProgressIndicator(),
          for (final each in _seeing.classes) ClassRow(found: each),
          if (_seeing.problem.isNotEmpty) ProblemRow(problem: _seeing.problem, onRetry: () => unawaited(_start())),
          if (_seeing.model case final model?) ModelRow(model: model),
          if (widget.models.channel.isThere) UpdateRow(channel: widget.models.channel),
        ],
      ),
    ),
    bottomNavigationBar: BottomAppBar(
      child: ListenableBuilder(
        listenable: _seeing,
        builder: (context, _) => Row(
          children: [
            ActionButton(
              name: 'Choose a picture',
              onPressed: _seeing.model == null ? null : () => unawaited(_look(widget.choosePicture)),
            ),
            ActionButton(
              name: _camera == null ? 'Use the camera' : 'Stop the camera',
              onPressed: _seeing.model == null ? null : () => unawaited(_switchCamera()),
            ),
          ],
        ),
      ),
    ),
  );
}

/// A button that takes its share of a row.
class ActionButton extends StatelessWidget {
  /// With its name.
  const ActionButton({super.key, required this.name, required this.onPressed});

  /// In words.
  final String name;

  /// Null where it does nothing yet.
  final VoidCallback? onPressed;

  @override
  Widget build(BuildContext context) => Expanded(
    child: TextButton(
      onPressed: onPressed,
      child: Text(name, textAlign: TextAlign.center, maxLines: 2),
    ),
  );
}

/// A class, with its score.
class ClassRow extends StatelessWidget {
  /// Row for a class of a picture.
  const ClassRow({super.key, required this.found});

  /// The class.
  final Classification found;

  @override
  Widget build(BuildContext context) => MergeSemantics(
    child: Padding(
      padding: const EdgeInsets.symmetric(vertical: 6),
      child: Column(
        children: [
          Row(
            children: [
              Expanded(child: Text(found.label)),
              Text('${(100 * found.score).toStringAsFixed(1)} %'),
            ],
          ),
          LinearProgressIndicator(value: found.score),
        ],
      ),
    ),
  );
}

/// Why there are no classes.
class ProblemRow extends StatelessWidget {
  /// With a way to try again.
  const ProblemRow({super.key, required this.problem, required this.onRetry});

  /// In words.
  final String problem;

  /// Tries again.
  final VoidCallback onRetry;

  @override
  Widget build(BuildContext context) => Column(
    crossAxisAlignment: CrossAxisAlignment.start,
    children: [
      Text(problem, style: TextStyle(color: Theme.of(context).colorScheme.error)),
      TextButton(onPressed: onRetry, child: const Text('Try again')),
    ],
  );
}

/// Shows which model this is, and what runs it.
class ModelRow extends StatelessWidget {
  /// Row for a loaded model.
  const ModelRow({super.key, required this.model});

  /// The model.
  final Classifier model;

  @override
  Widget build(BuildContext context) {
    final info = model.info;
    final failed = model.fallbacks.map((each) => each.provider.name).join(', ');
    return Padding(
      padding: const EdgeInsets.only(top: 12),
      child: Text(
        'Model ${info.version} on ${model.provider.name}, ONNX Runtime ${info.onnxRuntimeVersion}'
        '${failed.isEmpty ? '' : '; did not start: $failed'}',
        style: Theme.of(context).textTheme.bodySmall,
      ),
    );
  }
}

/// Looks for a newer model.
class UpdateRow extends StatefulWidget {
  /// In a channel.
  const UpdateRow({super.key, required this.channel});

  /// Where newer models come from.
  final Channel channel;

  @override
  State<UpdateRow> createState() => _UpdateRowState();
}

class _UpdateRowState extends State<UpdateRow> {
  bool _isUpdating = false;
  String _news = '';

  Future<void> _update() async {
    setState(() => _isUpdating = true);
    final news = await widget.channel.update();
    if (!mounted) return;
    setState(() {
      _isUpdating = false;
      _news = news;
    });
  }

  @override
  Widget build(BuildContext context) => Column(
    children: [
      TextButton(
        onPressed: _isUpdating ? null : () => unawaited(_update()),
        child: const Text('Look for a newer model'),
      ),
      Text(_news),
    ],
  );
}
