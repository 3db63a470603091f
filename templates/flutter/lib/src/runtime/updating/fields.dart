// Members of objects of JSON, each of the form that it must have.

import '../envelope.dart';

final RegExp _name = RegExp(r'^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$');
final RegExp _sha256 = RegExp(r'^[0-9a-f]{64}$');

/// An object of JSON. Its functions throw FormatException for a member that is missing, or another thing.
final class Fields {
  /// Throws FormatException for what is no object.
  Fields(Object? found) : _found = found is Map<String, Object?> ? found : throw const FormatException('no object');

  final Map<String, Object?> _found;

  /// Names of all members.
  List<String> get all => [..._found.keys];

  /// Any text.
  String text(String name) => _required(name, _found[name]);

  /// True or false.
  bool flag(String name) => _required(name, _found[name]);

  /// A whole number that all languages have.
  int number(String name) {
    final value = _required<int>(name, _found[name]);
    return value >= 0 && value < 1 << 53 ? value : _refuse(name);
  }

  /// Any number.
  double decimal(String name) => _required<num>(name, _found[name]).toDouble();

  /// The name of a file or a version.
  String name(String name) => _matching(name, _name);

  /// In hexadecimal.
  String sha256(String name) => _matching(name, _sha256);

  /// An object.
  Fields member(String name) => Fields(memberOf(_found, name));

  /// Null for one that is missing, or null.
  Fields? optional(String name) => _found[name] == null ? null : member(name);

  /// Objects.
  List<Fields> list(String name) => [for (final each in _required<List<Object?>>(name, _found[name])) Fields(each)];

  /// Texts.
  List<String> texts(String name) => [
    for (final each in _required<List<Object?>>(name, _found[name])) _required<String>(name, each),
  ];

  /// Like [texts]; none for a member that is missing.
  List<String> textsOrNone(String name) => _found[name] == null ? const [] : texts(name);

  /// Objects by their names, each as `read` has it.
  Map<String, T> each<T>(T Function(Fields found) read) => {for (final name in all) name: read(member(name))};

  /// Whole numbers that are not negative.
  List<int> numbers(String name) => [
    for (final each in _required<List<Object?>>(name, _found[name])) each is int && each >= 0 ? each : _refuse(name),
  ];

  /// Throws FormatException unless members are these texts.
  void require(Map<String, String> texts) => texts.forEach((name, wanted) {
    if (text(name) != wanted) throw FormatException('its $name is ${text(name)}, not $wanted');
  });

  String _matching(String name, RegExp form) {
    final value = text(name);
    return form.hasMatch(value) ? value : _refuse(name);
  }

  T _required<T>(String name, Object? value) => value is T ? value : _refuse(name);

  Never _refuse(String name) => throw FormatException('`$name` is missing, or has another type or form');
}
