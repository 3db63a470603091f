// The picture that the app shows: its own first, then what somebody picks.

import { Asset } from 'expo-asset';
import * as ImagePicker from 'expo-image-picker';

import coffee from '../assets/coffee.jpg';

/** The address of the picture that comes with the app. */
export async function ownPicture(): Promise<string> {
  const { localUri, uri } = await Asset.fromModule(coffee).downloadAsync();
  return localUri ?? uri;
}

/** The address of a picture of the phone; null when nobody chose one. */
export async function pickedPicture(): Promise<string | null> {
  const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: 'images', quality: 1 });
  return assets?.[0]?.uri ?? null;
}
