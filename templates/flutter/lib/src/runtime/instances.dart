// Detected objects with their pixels.

import 'dart:typed_data';

import 'boxes.dart';
import 'labels.dart';
import 'tensor.dart';

/// The pixels of an object, among those of its box: a part of the upright picture, in rows from the top.
final class InstanceMask {
  /// Made by this package.
  const InstanceMask(this.left, this.top, this.width, this.height, this.places);

  /// The first column of the picture.
  final int left;

  /// The first row of the picture.
  final int top;

  /// Pixels of a row.
  final int width;

  /// Number of rows.
  final int height;

  /// 1 for each pixel of the object, else 0.
  final Uint8List places;

  /// Whether the pixel in column [x] of row [y] of the upright picture is the object's.
  bool contains(int x, int y) {
    final (column, row) = (x - left, y - top);
    final isInside = column >= 0 && column < width && row >= 0 && row < height;
    return isInside && places[row * width + column] != 0;
  }

  @override
  String toString() => '$width x $height pixels at $left, $top';
}

/// A detected object and its pixels.
final class Instance {
  /// Made by this package.
  const Instance(this.label, this.index, this.score, this.box, this.mask);

  /// The name of its class; empty when the model's classes have no names.
  final String label;

  /// The number of its class, from 0 on.
  final int index;

  /// The model's confidence.
  final double score;

  /// Where it is.
  final Box box;

  /// Which pixels are the object's.
  final InstanceMask mask;

  @override
  String toString() => '$label ($index): $score at $box, $mask';
}

/// The detected objects, in the model's order: [boxes] and [areas] have four numbers for each, [places] its mask.
List<Instance> instancesOf(
  Tensor<Float32List> boxes,
  Tensor<Float32List> scores,
  Tensor<List<int>> classes,
  Tensor<Int32List> areas,
  Tensor<Uint8List> places,
  List<String> labels,
) {
  final found = <Instance>[];
  var start = 0;
  for (final (number, score) in scores.data.indexed) {
    final [left, top, right, bottom] = boxes.data.sublist(4 * number, 4 * number + 4);
    final [column, row, width, height] = areas.data.sublist(4 * number, 4 * number + 4);
    final mask = places.data.sublist(start, start + width * height);
    start += mask.length;
    found.add(
      Instance(
        labelOf(labels, classes.data[number]),
        classes.data[number],
        score,
        Box(left, top, right, bottom),
        InstanceMask(column, row, width, height, mask),
      ),
    );
  }
  return found;
}
