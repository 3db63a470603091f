// Bundles the ONNX Runtime that the app's pubspec.yaml names, for desktops and programs of Dart alone:
//
//   hooks:
//     user_defines:
//       NAME OF THIS PACKAGE:
//         onnxruntime: path/of/libonnxruntime.so
//
// or a path for each system: `onnxruntime: {linux: path/of/libonnxruntime.so, windows: path/of/onnxruntime.dll}`.
//
// Build hooks are given the path of a file of JSON and write another one. The package `hooks` would do that, too; this one
// depends on no other.

import 'dart:convert';
import 'dart:io';

/// Parts of library names of each system: a path alone is that of one system.
const Map<String, String> _suffixes = {'linux': '.so', 'macos': '.dylib', 'windows': '.dll'};

/// Answers what to bundle: one library, or nothing.
void main(List<String> arguments) {
  const option = '--config=';
  final place = arguments.firstWhere((each) => each.startsWith(option)).substring(option.length);
  final input = jsonDecode(File(place).readAsStringSync()) as Map<String, Object?>;
  final library = _wantsCode(input) ? _library(input) : null;
  final output = {
    'timestamp': '${DateTime.now()}',
    'status': 'success',
    'dependencies': [?library?.toFilePath()],
    'assets': [
      if (library != null)
        {
          'type': 'code_assets/code',
          'encoding': {
            'id': 'package:${input['package_name']}/src/runtime/library.dart',
            'link_mode': {'type': 'dynamic_loading_bundle'},
            'file': library.toFilePath(),
          },
        },
    ],
  };
  File(input['out_file']! as String).writeAsStringSync(jsonEncode(output));
}

/// Whether libraries are asked for: Flutter also asks for assets of other kinds.
bool _wantsCode(Map<String, Object?> input) {
  final config = input['config']! as Map<String, Object?>;
  final types = config['build_asset_types'] as List<Object?>? ?? const [];
  return types.contains('code_assets/code');
}

/// The library that the app names for the system that is built for; null where Android's and Apple's builds bring it.
Uri? _library(Map<String, Object?> input) {
  final system = _systemOf(input);
  final suffix = _suffixes[system];
  if (suffix == null) return null;
  final defines = (input['user_defines'] as Map<String, Object?>?)?['workspace_pubspec'] as Map<String, Object?>?;
  final values = defines?['defines'] as Map<String, Object?>?;
  final named = values?['onnxruntime'];
  final path = named is Map<String, Object?> ? named[system] : named;
  if (path == null) return null;
  if (path is! String) _fail('onnxruntime is a path, or a path for each system, not $path');
  if (!path.contains(suffix)) return named == path ? null : _fail('$path is no library for $system: no $suffix');
  final base = Uri.file(defines!['base_path']! as String);
  final library = base.resolveUri(Uri.file(path));
  if (!File.fromUri(library).existsSync()) _fail('${library.toFilePath()}: no such file');
  return library;
}

String _systemOf(Map<String, Object?> input) {
  final config = input['config']! as Map<String, Object?>;
  final extensions = config['extensions'] as Map<String, Object?>?;
  final code = extensions?['code_assets'] as Map<String, Object?>?;
  return code?['target_os'] as String? ?? Platform.operatingSystem;
}

Never _fail(String message) {
  stderr.writeln('hooks.user_defines of pubspec.yaml: $message');
  exit(1);
}
