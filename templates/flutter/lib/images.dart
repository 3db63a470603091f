/// Pictures of Flutter's engine, for models: import it beside the package's main library.
library;

export 'src/runtime/image_flutter.dart';
