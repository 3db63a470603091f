// What a model sees in a picture, for a component.

import { useEffect, useState } from 'react';
import type { Classification, ClassifierModel } from 'react-native-vision';

import type { Chosen } from './chosen';
import { pixelsOf } from './pixels';

/** What is known of a picture: nothing yet, its classes, or why there are none. */
export interface Seen {
  readonly classes: readonly Classification[];
  readonly problem: string;
}

const NOTHING: Seen = { classes: [], problem: '' };

/** Classifies `chosen` whenever it, or the model, is another one. */
export function useClasses(model: ClassifierModel | null, chosen: Chosen | null): Seen {
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
  model: ClassifierModel,
  chosen: Chosen,
  signal: AbortSignal,
): Promise<readonly Classification[]> {
  const picture = await pixelsOf(chosen);
  return model.classify(picture, { signal });
}
