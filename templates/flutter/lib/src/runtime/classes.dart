// Classes with their scores.

import 'dart:typed_data';

import 'errors.dart';
import 'labels.dart';
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
List<Classification> classificationsOf(Tensor<Float32List> scores, List<String> labels, int top, double threshold) {
  if (top < 1) throw ModelException(ModelErrorCode.badOptions, 'top is $top, the least is 1');
  final data = scores.data;
  final found = [
    for (final (index, score) in data.indexed)
      if (score >= threshold) Classification(labelOf(labels, index), index, score),
  ];
  found.sort((one, other) {
    final order = other.score.compareTo(one.score);
    return order == 0 ? one.index.compareTo(other.index) : order;
  });
  return found.length > top ? found.sublist(0, top) : found;
}
