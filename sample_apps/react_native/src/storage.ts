// Files of the app on a phone.

import { documentDirectory, getInfoAsync, readAsStringAsync, writeAsStringAsync } from 'expo-file-system/legacy';

/** The content of a file; null where there is none. */
export async function readText(name: string): Promise<string | null> {
  const { exists } = await getInfoAsync(addressOf(name));
  return exists ? readAsStringAsync(addressOf(name)) : null;
}

/** Makes a file, or replaces it. */
export async function writeText(name: string, text: string): Promise<void> {
  await writeAsStringAsync(addressOf(name), text);
}

function addressOf(name: string): string {
  return `${documentDirectory ?? ''}${name}`;
}
