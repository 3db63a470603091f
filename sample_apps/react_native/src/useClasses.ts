// What a model sees in a picture, for a component.

import { useEffect, useState } from 'react';
import type { Classification, Classifier } from 'react-native-vision';
import { pictureFrom } from 'react-native-vision/image';

import type { Chosen } from './chosen';

/** Classes of a picture: nothing yet, its classes, or why there are none. */
export interface Seen {
  readonly classes: readonly Classification[];
  readonly problem: string;
}

/** Side of the picture that the model gets, in pixels: it looks at 224 of them. */
export const LONGEST = 1024;

const NOTHING: Seen = { classes: [], problem: '' };

/** Classifies `chosen` whenever it, or the model, is another one. */
export function useClasses(model: Classifier | null, chosen: Chosen | null): Seen {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    if (model === null || chosen === null) return undefined;
    const controller = new AbortController();
    const show = (found: Seen): void => {
      if (!controller.signal.aborted) setSeen(found);
    };
    classified(model, chosen, controller.signal).then(
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
  }, [model, chosen]);
  return seen;
}

async function classified(
  model: Classifier,
  chosen: Chosen,
  signal: AbortSignal,
): Promise<readonly Classification[]> {
  const picture = await pictureFrom(chosen.uri, { maxSize: LONGEST });
  return model.classify(picture, { signal });
}
