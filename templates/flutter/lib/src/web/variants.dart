// Variants of models that only some chips open: pages are not told their device's chip.

import '../runtime/descriptor.dart';
import '../runtime/options.dart';

/// The model, as pages open it.
ModelDescriptor chosen(ModelDescriptor model, List<String> variants, LoadOptions options) => model;
