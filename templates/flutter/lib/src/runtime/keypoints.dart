// Named points in pictures.

import 'dart:typed_data';

import 'tensor.dart';

/// A named point, in pixels of the picture when it is upright. It may lie outside.
final class Keypoint {
  /// Made by this package.
  const Keypoint(this.label, this.x, this.y, this.score);

  /// Its name.
  final String label;

  /// From the left edge.
  final double x;

  /// From the upper edge.
  final double y;

  /// The model's confidence.
  final double score;

  @override
  String toString() => '$label: $score at $x, $y';
}

/// One for each of `labels`, with two numbers of `points`.
List<Keypoint> keypointsOf(Tensor<Float32List> points, Tensor<Float32List> scores, List<String> labels) => [
  for (final (at, label) in labels.indexed)
    Keypoint(label, points.data[2 * at], points.data[2 * at + 1], scores.data[at]),
];
