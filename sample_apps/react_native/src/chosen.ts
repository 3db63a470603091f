// The picture that the app shows: its own first, then what somebody picks.

import { Asset } from 'expo-asset';
import * as ImagePicker from 'expo-image-picker';

import coffee from '../assets/coffee.jpg';

/** A file with a picture, and how it has to be turned. */
export interface Chosen {
  readonly uri: string;
  /** Exif's number. */
  readonly orientation: number;
}

/** The picture that comes with the app. */
export async function ownPicture(): Promise<Chosen> {
  const { localUri, uri } = await Asset.fromModule(coffee).downloadAsync();
  return { uri: localUri ?? uri, orientation: 1 };
}

/** A picture of the phone; null when nobody chose one. */
export async function pickedPicture(): Promise<Chosen | null> {
  // The file as it is: the picker neither scales nor turns it, and Exif says how the camera was held.
  const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: 'images', quality: 1, exif: true });
  const [asset] = assets ?? [];
  if (asset === undefined) return null;
  return { uri: asset.uri, orientation: Number(asset.exif?.['Orientation'] ?? 1) };
}
