// Elements of a list by their scores.

import 'tensor.dart';

/// An element of a list, and its score.
final class Ranked {
  /// Made by this package.
  const Ranked(this.index, this.score);

  /// Its place in the list, from 0 on.
  final int index;

  /// The model's.
  final double score;

  @override
  String toString() => '$index: $score';
}

/// The only one of `scores`.
double scoreOf(Tensor<List<double>> scores) => scores.data.firstOrNull ?? double.nan;

/// The places of `scores`, best first; of equal ones the first comes first, and what is no number counts as lowest.
List<Ranked> ranked(List<double> scores) {
  double key(Ranked place) => place.score.isNaN ? double.negativeInfinity : place.score;
  return [for (final (index, score) in scores.indexed) Ranked(index, score)]..sort((one, other) {
    if (key(one) == key(other)) return one.index - other.index;
    return key(one) > key(other) ? -1 : 1;
  });
}

/// The places of `documents` by the scores that `scored` gives to one after the other.
Future<List<Ranked>> rankedBy(List<String> documents, Future<double> Function(String document) scored) async =>
    ranked([for (final document in documents) await scored(document)]);
