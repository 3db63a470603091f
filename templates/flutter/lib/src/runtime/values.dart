// Named numbers of regressions and time series.

import 'dart:typed_data';

import 'tensor.dart';

/// Numbers with names, for each step of a series: one step where the model has no series.
final class NamedValues {
  /// Made by this package.
  const NamedValues(this.series, this.units);

  /// The numbers of each name, one for each step, in the model's order.
  final Map<String, Float32List> series;

  /// The unit of each name; empty for numbers without one.
  final Map<String, String> units;

  /// Number of steps.
  int get steps => series.values.first.length;

  @override
  String toString() {
    final lines = [for (final each in series.entries) '${each.key}: ${each.value.join(' ')} ${units[each.key]}'];
    return lines.join(', ');
  }
}

/// `numbers` are those of a step, then those of the next.
NamedValues namedValuesOf(Tensor<Float32List> numbers, List<String> names, List<String> units) {
  final all = numbers.data;
  final steps = all.length ~/ names.length;
  final series = {
    for (final (index, name) in names.indexed)
      name: Float32List.fromList([for (var step = 0; step < steps; step++) all[step * names.length + index]]),
  };
  return NamedValues(series, Map.fromIterables(names, units));
}
