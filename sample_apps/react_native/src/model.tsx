// The model for pictures: that of the app's own package. With a channel, model.channel.tsx takes this file's place.

import type { ReactElement } from 'react';
import { useClassifier, type Classifier, type ModelState } from 'react-native-vision';

/** The model, as soon as it is there. */
export function useModel(): ModelState<Classifier> {
  return useClassifier();
}

/** Without a channel, there is nothing to look for. */
export function Updates(_: { readonly model: Classifier | null }): ReactElement | null {
  return null;
}
