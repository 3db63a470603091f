// What a session says of itself: which provider has which node, and where it spends its time.

import 'dart:ffi';

import 'assignment.dart';
import 'memory.dart';
import 'onnxruntime.dart';

/// Suffix that ONNX Runtime appends to the name of a node that a provider lays out anew, once or more.
final RegExp _copies = RegExp(r'(_token_\d+)+$');

/// The providers of a session and what they run of it; null where ONNX Runtime cannot tell.
List<AssignedNodes>? assignedIn(OnnxRuntime runtime, Pointer<Void> session) => withArena((arena) {
  final api = runtime.assignmentApi;
  if (api == null) return null;
  final out = arena.pointers([nullptr, nullptr]);
  final count = arena.sizes([0]);

  /// The pointers that a function gives.
  List<Pointer<Void>> list(Pointer<Void> Function(Pointer<Void> out, Pointer<Void> count) get) {
    runtime.check(get(out.cast(), count.cast()));
    final first = out.value.cast<Pointer<Void>>();
    return [for (var index = 0; index < count.value; index++) first[index]];
  }

  /// The text that a function gives.
  String name(Pointer<Void> Function(Pointer<Void> out) get) {
    runtime.check(get(out.cast()));
    return textAt(out.value);
  }

  final parts = list((out, count) => api.sessionGetEpGraphAssignmentInfo(session, out, count));
  if (parts.isEmpty) return null;
  final macs = _macsOf(runtime, session);
  final unrecorded = {...macs};
  final found = <AssignedNodes>[];
  for (final part in parts) {
    final provider = name((out) => api.epAssignedSubgraphGetEpName(part, out));
    final nodes = list((out, count) => api.epAssignedSubgraphGetNodes(part, out, count));
    var sum = 0.0;
    for (final node in nodes) {
      final original = name((out) => api.epAssignedNodeGetName(node, out)).replaceFirst(_copies, '');
      sum += macs[original] ?? 0;
      unrecorded.remove(original);
    }
    found.add(AssignedNodes(provider, nodes.length, sum));
  }
  if (macs.isEmpty) return found;
  return [...found, AssignedNodes('', unrecorded.length, unrecorded.values.fold(0, (sum, each) => sum + each))];
});

/// Node name -> its multiplications with additions, from lines `<number> <name>` of the model's metadata.
Map<String, double> _macsOf(OnnxRuntime runtime, Pointer<Void> session) {
  final macs = <String, double>{};
  for (final line in runtime.metadata(session, 'mobpack.macs').split('\n')) {
    final blank = line.indexOf(' ');
    if (blank > 0) macs[line.substring(blank + 1)] = double.tryParse(line.substring(0, blank)) ?? 0;
  }
  return macs;
}
