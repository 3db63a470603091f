// A class for each place of a picture.

import 'dart:typed_data';

import 'tensor.dart';

/// The class at each place: the value of a place is at `y * width + x`.
final class Mask {
  /// Made by this package.
  const Mask(this.width, this.height, this.classes, this.scores, this.labels);

  /// In places.
  final int width;

  /// In places.
  final int height;

  /// The best class of each place; of a model with one class, 1 where it is and 0 elsewhere.
  final Uint8List classes;

  /// The model's confidence.
  final Float32List scores;

  /// The names of the classes; empty when they have none.
  final List<String> labels;

  @override
  String toString() => '$width x $height places${labels.isEmpty ? '' : ' of ${labels.join(', ')}'}';
}

/// A mask of the model's two tensors.
Mask maskOf(Tensor<Uint8List> classes, Tensor<Float32List> scores, List<String> labels) {
  final [height, width] = classes.shape;
  return Mask(width, height, classes.data, scores.data, labels);
}
