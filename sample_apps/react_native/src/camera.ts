// The camera's pictures, one after the other, and what the model sees in them.

import type { CameraView } from 'expo-camera';
import { useEffect, useState, type RefObject } from 'react';
import type { Classification, ClassifierModel, Picture } from 'react-native-vision';

import { pixelsOf } from './pixels';
import type { Seen } from './useClasses';

const NOTHING: Seen = { classes: [], problem: '' };

/** Classifies the camera's latest picture, again and again, while `camera` shows one. */
export function useCamera(model: ClassifierModel | null, camera: RefObject<CameraView | null>, isReady: boolean): Seen {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    const view = camera.current;
    if (model === null || view === null || !isReady) return undefined;
    // Pictures that come while the model is busy are dropped, all but the latest.
    const frames = model.frames({ next: () => shot(view) });
    void show(frames, setSeen);
    return () => {
      void frames.return();
      setSeen(NOTHING);
    };
  }, [model, camera, isReady]);
  return seen;
}

/** Shows all results, until there are no more. */
async function show(frames: ReturnType<ClassifierModel['frames']>, set: (seen: Seen) => void): Promise<void> {
  try {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      const classes: readonly Classification[] = next.value;
      set({ classes, problem: '' });
    }
  } catch (reason) {
    set({ classes: [], problem: String(reason) });
  }
}

/** A picture as it lies in the camera's file: Exif says how the phone was held. */
async function shot(camera: CameraView): Promise<IteratorResult<Picture>> {
  const { uri, exif } = await camera.takePictureAsync({ quality: 0.5, exif: true, shutterSound: false });
  const orientation = Number((exif as Record<string, unknown> | undefined)?.['Orientation'] ?? 1);
  return { done: false, value: await pixelsOf({ uri, orientation }) };
}
