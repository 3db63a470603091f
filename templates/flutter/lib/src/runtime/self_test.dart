// Compares what a model computes on this device with what it computed on the build machine.

import 'options.dart';

/// The result of a self-test: outputs on this device, compared with those of the build machine.
final class SelfTest {
  /// Made by this package.
  const SelfTest({required this.model, required this.file, required this.provider, required this.outputs});

  /// Name of the model.
  final String model;

  /// Name of the file that was opened.
  final String file;

  /// The provider that ran it.
  final Provider provider;

  /// Every output of every sample that was compared.
  final List<OutputTest> outputs;

  /// Whether there are outputs, and all are as expected.
  bool get passed => outputs.isNotEmpty && !failed;

  /// Whether one of [outputs] is not as expected. A test without outputs had nothing to test: it neither passed nor
  /// failed.
  bool get failed => !outputs.every((each) => each.passed);

  /// One line per output, for a log.
  @override
  String toString() =>
      ['Self-test of $model on ${provider.name} ($file): $_verdict', ...outputs.map((each) => '  $each')].join('\n');

  String get _verdict => failed ? 'FAILED' : (passed ? 'passed' : 'nothing to test');
}

/// One output of one sample in a self-test.
final class OutputTest {
  /// Made by this package.
  const OutputTest({
    required this.name,
    required this.sample,
    required this.maxAbsError,
    required this.mismatchCount,
    required this.scale,
    required this.tolerance,
    required this.absoluteTolerance,
    required this.failure,
  });

  /// Its name in the model.
  final String name;

  /// Number of the sample, from 0.
  final int sample;

  /// The largest difference from the expected values; 0 for values that must be equal.
  final double maxAbsError;

  /// Values that differ and have no distance: NaN or an infinity where a number should be, or the other way round;
  /// integers of more than 8 bits, booleans and strings that differ.
  final int mismatchCount;

  /// The largest expected value of all samples.
  final double scale;

  /// [maxAbsError] may be at most [absoluteTolerance] + this * [scale]; 0 for values that must be equal.
  final double tolerance;

  /// Largest [maxAbsError] that is allowed whatever the [scale].
  final double absoluteTolerance;

  /// Why the output failed; empty when it passed.
  final String failure;

  /// Whether the output is as expected.
  bool get passed => failure.isEmpty;

  @override
  String toString() => '$name, sample $sample: ${passed ? _words : 'FAILED, $failure'}';

  String get _words => 'error ${shortly(maxAbsError)}, allowed ${shortly(absoluteTolerance + tolerance * scale)}';
}

/// A number for people.
String shortly(double number) => number.toStringAsExponential(1);
