// Names of classes.

/// The name of the class `index`; empty without one.
String labelOf(List<String> labels, int index) => index >= 0 && index < labels.length ? labels[index] : '';
