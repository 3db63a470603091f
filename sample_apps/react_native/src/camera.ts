// The camera's pictures, one after the other, and what the model sees in them.

import type { CameraView } from 'expo-camera';
import { deleteAsync } from 'expo-file-system/legacy';
import { useEffect, useState, type RefObject } from 'react';
import type { Classification, Classifier, Picture } from 'react-native-vision';
import { pictureFrom } from 'react-native-vision/image';

import { LONGEST, type Seen } from './useClasses';

const NOTHING: Seen = { classes: [], problem: '' };
const TRIES = 20;
const PAUSE_MS = 100;

/** Classifies the camera's latest picture, again and again, while `camera` shows one. */
export function useCamera(model: Classifier | null, camera: RefObject<CameraView | null>, isReady: boolean): Seen {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    const view = camera.current;
    if (model === null || view === null || !isReady) return undefined;
    // Pictures that come while the model is busy are dropped, all but the latest.
    let next = firstShot;
    const frames = model.frames({
      next: async () => {
        const taken = await next(view);
        next = shot;
        return taken;
      },
    });
    void show(frames, setSeen);
    return () => {
      void frames.return();
      setSeen(NOTHING);
    };
  }, [model, camera, isReady]);
  return seen;
}

/** Shows all results, until there are no more. */
async function show(frames: ReturnType<Classifier['frames']>, set: (seen: Seen) => void): Promise<void> {
  try {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      const classes: readonly Classification[] = next.value;
      set({ classes, problem: '' });
    }
  } catch (reason) {
    set({ classes: [], problem: String(reason) });
  }
}

/** The camera's next picture. */
async function shot(camera: CameraView): Promise<IteratorResult<Picture>> {
  const { uri } = await camera.takePictureAsync({ quality: 0.5, shutterSound: false });
  try {
    return { done: false, value: await pictureFrom(uri, { maxSize: LONGEST }) };
  } finally {
    if (uri.startsWith('file:')) await deleteAsync(uri); // browsers have it in memory
  }
}

/** Its first picture: a browser says that the camera is ready a little before there is one. */
async function firstShot(camera: CameraView): Promise<IteratorResult<Picture>> {
  for (let left = TRIES; left > 1; left -= 1) {
    try {
      return await shot(camera);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  return shot(camera);
}
