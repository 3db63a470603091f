// Programs of Dart alone have no images of Flutter's engine.
