// What the camera sees.

import { CameraView, useCameraPermissions } from 'expo-camera';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { StyleSheet } from 'react-native';
import type { Classifier } from 'react-native-vision';

import { useCamera } from './camera';
import type { Seen } from './useClasses';

interface Props {
  readonly model: Classifier | null;
  /** Is told of every result. */
  readonly onSeen: (seen: Seen) => void;
}

export function Live({ model, onSeen }: Props): ReactElement | null {
  const camera = useRef<CameraView>(null);
  const [isReady, setReady] = useState(false);
  const [permission, request] = useCameraPermissions();
  const seen = useCamera(model, camera, isReady);
  const isAsked = permission !== null && !permission.granted;

  useEffect(() => {
    if (isAsked) void request();
  }, [isAsked, request]);
  useEffect(() => {
    onSeen(permission?.canAskAgain === false ? { classes: [], problem: 'The camera is not allowed' } : seen);
  }, [seen, permission, onSeen]);

  if (permission?.granted !== true) return null;
  return (
    <CameraView
      ref={camera}
      style={styles.camera}
      animateShutter={false}
      onCameraReady={() => {
        setReady(true);
      }}
    />
  );
}

const styles = StyleSheet.create({ camera: { width: '100%', height: '100%' } });
