// Named parts of a text.

import 'tensor.dart';

/// A named part of a text.
final class Entity {
  /// Made by this package.
  const Entity(this.label, this.text, this.start, this.end, this.score);

  /// Kind of the entity, such as a person or a place.
  final String label;

  /// The part of the text.
  final String text;

  /// Where it begins: an index of the text.
  final int start;

  /// The index after its end.
  final int end;

  /// The model's confidence.
  final double score;

  @override
  String toString() => '$text ($label, $start to $end): $score';
}

/// The parts of `text` from the code points `starts` to those before `ends`, in its order.
List<Entity> entitiesOf(
  Tensor<List<int>> classes,
  Tensor<List<int>> starts,
  Tensor<List<int>> ends,
  Tensor<List<double>> scores,
  String text,
  List<String> labels,
) {
  final places = _placesOf(text);
  return [
    for (final (number, score) in scores.data.indexed)
      _entity(
        labels.elementAtOrNull(classes.data[number]) ?? '',
        text,
        places.elementAtOrNull(starts.data[number]) ?? text.length,
        places.elementAtOrNull(ends.data[number]) ?? text.length,
        score,
      ),
  ];
}

Entity _entity(String label, String text, int start, int end, double score) =>
    Entity(label, text.substring(start, end), start, end, score);

/// The index of each code point of `text`.
List<int> _placesOf(String text) {
  final places = <int>[];
  var index = 0;
  for (final point in text.runes) {
    places.add(index);
    index += point > 0xffff ? 2 : 1;
  }
  return places;
}
