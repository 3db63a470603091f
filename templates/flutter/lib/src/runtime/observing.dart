// Tells an observer what models do.

import 'dart:developer';

/// Tells an observer something, whatever comes of that.
void tell(void Function()? telling) {
  try {
    telling?.call();
  } on Object catch (error, trace) {
    log('an observer of models failed', name: 'mobpack', error: error, stackTrace: trace);
  }
}
