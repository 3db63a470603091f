// Which provider runs how much of a model.

import 'options.dart';

/// The share of a model that a provider runs.
final class ProviderAssignment {
  /// Made by this package.
  const ProviderAssignment(this.provider, this.nodes, this.macs);

  /// The one that runs them.
  final Provider provider;

  /// Number of nodes of the graph, as ONNX Runtime has recorded them. Of the nodes that it lays out anew for a provider,
  /// which it does not record, those with multiply-accumulates are counted.
  final int nodes;

  /// Multiplications with additions in these nodes, as far as the model's file says.
  final double macs;

  @override
  String toString() => '${provider.name}: $nodes nodes, ${macs.toStringAsFixed(0)} multiply-accumulates';
}

/// Nodes that ONNX Runtime has assigned to a provider.
final class AssignedNodes {
  /// Nodes of the provider that ONNX Runtime calls `name`; empty for nodes that it has not recorded.
  const AssignedNodes(this.name, this.nodes, this.macs);

  /// ONNX Runtime's name of the provider.
  final String name;

  /// How many it has.
  final int nodes;

  /// Multiplications and additions of these nodes.
  final double macs;
}

/// The share of each provider of a model that was opened for `asked`; null where ONNX Runtime cannot say.
List<ProviderAssignment>? assignmentOf(List<AssignedNodes>? found, Provider asked) {
  if (found == null) return null;
  final isHiding = asked.facts.hidesNodes;
  if (isHiding && !found.any((each) => each.name.isEmpty)) return null;
  final known = {for (final each in Provider.values) each.facts.sessionName: each};
  final sums = <Provider, ProviderAssignment>{};
  for (final AssignedNodes(:name, :nodes, :macs) in found) {
    final provider = name.isEmpty ? (isHiding ? asked : null) : known[name];
    if (provider == null || nodes == 0) continue;
    final before = sums[provider];
    sums[provider] = ProviderAssignment(provider, nodes + (before?.nodes ?? 0), macs + (before?.macs ?? 0));
  }
  return List.unmodifiable(sums.values);
}

/// Whether it is known that a provider runs nothing: then the CPU runs what it was asked for.
bool hasNoNode(Provider provider, List<ProviderAssignment>? assignment) =>
    provider != Provider.cpu && assignment != null && !assignment.any((each) => each.provider == provider);
