// What the sample app takes from Expo's modules while it shows its own picture.

export const Asset = {
  fromModule: () => ({ downloadAsync: () => Promise.resolve({ localUri: plan.uri, uri: plan.uri }) }),
};

export const CameraView = 'CameraView';
export const useCameraPermissions = () => [null, () => Promise.resolve()];
export const launchImageLibraryAsync = () => Promise.resolve({ canceled: true });
export const deleteAsync = () => Promise.resolve();
