// Text that a model reads.

import 'dart:typed_data';

import 'labels.dart';
import 'tensor.dart';

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
Reading readingOf(Tensor<List<int>> symbols, Tensor<Float32List> scores, List<String> alphabet) {
  final text = [for (final symbol in symbols.data) labelOf(alphabet, symbol)].join();
  final count = scores.data.length;
  final sum = scores.data.fold<double>(0, (total, score) => total + score);
  return Reading(text, count == 0 ? 0 : sum / count);
}
