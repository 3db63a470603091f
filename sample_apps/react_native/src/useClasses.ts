// What a model sees in a picture, for a component.

import { useEffect, useState } from 'react';
import type { Classification, ClassifierModel } from 'react-native-vision';
import { pictureFrom } from 'react-native-vision/image';

/** Of the longest side: no model here looks at more. */
const MAX_SIZE = 1024;

/** What is known of a picture: nothing yet, its classes, or why there are none. */
export interface Seen {
  readonly classes: readonly Classification[];
  readonly problem: string;
}

const NOTHING: Seen = { classes: [], problem: '' };

/** Classifies the picture at an address whenever that, or the model, is another one. */
export function useClasses(model: ClassifierModel | null, uri: string | null): Seen {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    if (model === null || uri === null) return undefined;
    const controller = new AbortController();
    const show = (found: Seen): void => {
      if (!controller.signal.aborted) setSeen(found);
    };
    classified(model, uri, controller.signal).then(
      (classes) => {
        show({ classes, problem: '' });
      },
      (reason: unknown) => {
        show({ classes: [], problem: String(reason) });
      },
    );
    return () => {
      controller.abort();
      setSeen(NOTHING);
    };
  }, [model, uri]);
  return seen;
}

async function classified(
  model: ClassifierModel,
  uri: string,
  signal: AbortSignal,
): Promise<readonly Classification[]> {
  const picture = await pictureFrom(uri, { maxSize: MAX_SIZE });
  return model.classify(picture, { signal });
}
