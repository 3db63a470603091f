// The picture that the app shows: its own first, then what somebody picks.

import { Asset } from 'expo-asset';
import * as ImagePicker from 'expo-image-picker';

import coffee from '../assets/coffee.jpg';

/** A file with a picture. */
export interface Chosen {
  readonly uri: string;
}

/** The picture that comes with the app. */
export async function ownPicture(): Promise<Chosen> {
  const { localUri, uri } = await Asset.fromModule(coffee).downloadAsync();
  return { uri: localUri ?? uri };
}

/** A picture of the phone; null when nobody chose one. */
export async function pickedPicture(): Promise<Chosen | null> {
  // The file as it is: the picker neither scales nor turns it.
  const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: 'images', quality: 1 });
  const [asset] = assets ?? [];
  return asset === undefined ? null : { uri: asset.uri };
}
