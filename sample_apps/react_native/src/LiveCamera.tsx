// The camera of a phone, and what the model sees in its pictures, one after the other.

import { deleteAsync } from 'expo-file-system/legacy';
import { useEffect, useState, type ReactElement } from 'react';
import { StyleSheet } from 'react-native';
import type { ClassifierModel, Picture } from 'react-native-vision';
import { pictureFrom } from 'react-native-vision/image';
import {
  Camera,
  CommonResolutions,
  useCameraDevice,
  useCameraPermission,
  usePhotoOutput,
  type CameraPhotoOutput,
} from 'react-native-vision-camera';

import type { LiveProps } from './liveProps';

/** Whether this platform has the view. */
export const hasCamera: boolean = true;

const MAX_SIZE = 640;
const PHOTOS = {
  targetResolution: CommonResolutions.VGA_4_3,
  containerFormat: 'jpeg',
  qualityPrioritization: 'speed',
} as const;

export function LiveCamera({ model, onClasses, onProblem }: LiveProps): ReactElement | null {
  const device = useCameraDevice('back');
  const { hasPermission, canRequestPermission, requestPermission } = useCameraPermission();
  const [isStarted, setStarted] = useState(false);
  const photos = usePhotoOutput(PHOTOS);

  useEffect(() => {
    if (canRequestPermission) void requestPermission();
    else if (!hasPermission) onProblem('The settings of the phone do not let Vision use the camera.');
  }, [canRequestPermission, hasPermission, requestPermission, onProblem]);

  useEffect(() => {
    if (!isStarted) return undefined;
    const controller = new AbortController();
    follow(model, photos, controller.signal, onClasses).catch((reason: unknown) => {
      if (!controller.signal.aborted) onProblem(String(reason));
    });
    return () => {
      controller.abort();
    };
  }, [model, photos, isStarted, onClasses, onProblem]);

  if (device === undefined || !hasPermission) return null;
  return (
    <Camera
      style={StyleSheet.absoluteFill}
      device={device}
      isActive
      outputs={[photos]}
      onStarted={() => {
        setStarted(true);
      }}
      onStopped={() => {
        setStarted(false);
      }}
      onError={(error) => {
        onProblem(error.message);
      }}
    />
  );
}

/** The model takes the next photo when it has seen the last one. */
async function follow(
  model: ClassifierModel,
  photos: CameraPhotoOutput,
  signal: AbortSignal,
  onClasses: LiveProps['onClasses'],
): Promise<void> {
  while (!signal.aborted) {
    const classes = await model.classify(await taken(photos), { signal });
    if (!signal.aborted) onClasses(classes);
  }
}

async function taken(photos: CameraPhotoOutput): Promise<Picture> {
  const { filePath } = await photos.capturePhotoToFile({ enableShutterSound: false }, {});
  const uri = filePath.startsWith('file:') ? filePath : `file://${filePath}`;
  try {
    return await pictureFrom(uri, { maxSize: MAX_SIZE });
  } finally {
    await deleteAsync(uri, { idempotent: true });
  }
}
