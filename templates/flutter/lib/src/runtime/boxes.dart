// Detected objects.

import 'dart:typed_data';

import 'labels.dart';
import 'tensor.dart';

/// A part of a picture, in pixels of the picture when it is upright.
final class Box {
  /// By its edges.
  const Box(this.left, this.top, this.right, this.bottom);

  /// Its left edge.
  final double left;

  /// Its upper edge.
  final double top;

  /// Its right edge.
  final double right;

  /// Its lower edge.
  final double bottom;

  @override
  String toString() => '[$left, $top, $right, $bottom]';
}

/// A detected object.
final class Detection {
  /// Made by this package.
  const Detection(this.label, this.index, this.score, this.box);

  /// The name of its class; empty when the model's classes have no names.
  final String label;

  /// The number of its class, from 0 on.
  final int index;

  /// The model's confidence.
  final double score;

  /// Where it is.
  final Box box;

  @override
  String toString() => '$label ($index): $score at $box';
}

/// The detected objects, in the model's order: `boxes` has four numbers for each.
List<Detection> detectionsOf(
  Tensor<Float32List> boxes,
  Tensor<Float32List> scores,
  Tensor<List<int>> classes,
  List<String> labels,
) {
  final edges = boxes.data;
  return [
    for (final (number, score) in scores.data.indexed)
      Detection(
        labelOf(labels, classes.data[number]),
        classes.data[number],
        score,
        Box(edges[4 * number], edges[4 * number + 1], edges[4 * number + 2], edges[4 * number + 3]),
      ),
  ];
}
