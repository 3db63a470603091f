// What apps get of a model's tensors.

import 'dart:typed_data';

import 'errors.dart';
import 'tensor.dart';

/// A class that a model predicts.
final class Classification {
  /// Made by this package.
  const Classification(this.label, this.index, this.score);

  /// Its name; empty when the model's classes have no names.
  final String label;

  /// Its number among the model's classes, from 0 on.
  final int index;

  /// The model's confidence.
  final double score;

  @override
  String toString() => '$label ($index): $score';
}

/// The classes with `threshold` or more: the best `top`, best first, and of equal ones the first.
///
/// Throws ModelException `badOptions` for a `top` below 1.
List<Classification> classified(Tensor<Float32List> scores, List<String> labels, int top, double threshold) {
  if (top < 1) throw ModelException(ModelErrorCode.badOptions, 'top is 1 or more, not $top');
  final data = scores.data;
  final found = [
    for (final (index, score) in data.indexed)
      if (score >= threshold) Classification(_label(labels, index), index, score),
  ];
  found.sort((one, other) {
    final order = other.score.compareTo(one.score);
    return order == 0 ? one.index.compareTo(other.index) : order;
  });
  return found.length > top ? found.sublist(0, top) : found;
}

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
List<Detection> detected(
  Tensor<Float32List> boxes,
  Tensor<Float32List> scores,
  Tensor<List<int>> classes,
  List<String> labels,
) {
  final edges = boxes.data;
  return [
    for (final (number, score) in scores.data.indexed)
      Detection(
        _label(labels, classes.data[number]),
        classes.data[number],
        score,
        Box(edges[4 * number], edges[4 * number + 1], edges[4 * number + 2], edges[4 * number + 3]),
      ),
  ];
}

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
Mask segmented(Tensor<Uint8List> classes, Tensor<Float32List> scores, List<String> labels) {
  final [height, width] = classes.shape;
  return Mask(width, height, classes.data, scores.data, labels);
}

/// A text that a model read.
final class Reading {
  /// Made by this package.
  const Reading(this.text, this.score);

  /// The text.
  final String text;

  /// The model's mean confidence in its symbols; 0 when it read nothing.
  final double score;

  @override
  String toString() => text;
}

/// The text that `symbols`, positions in `alphabet`, are.
Reading spelled(Tensor<List<int>> symbols, Tensor<Float32List> scores, List<String> alphabet) {
  final text = [for (final symbol in symbols.data) _label(alphabet, symbol)].join();
  final count = scores.data.length;
  final sum = scores.data.fold<double>(0, (total, score) => total + score);
  return Reading(text, count == 0 ? 0 : sum / count);
}

/// The tensor of a text: its code points, or -1 for an empty one.
TensorInput<Int32List> textTensor(String text) =>
    TensorInput(Int32List.fromList(text.isEmpty ? const [-1] : text.runes.toList()));

String _label(List<String> labels, int index) => index >= 0 && index < labels.length ? labels[index] : '';
