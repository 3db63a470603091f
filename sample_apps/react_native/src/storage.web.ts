// Files of the app in a browser, which has no folder for them.

/** The content of a file; null where there is none. */
export async function readText(name: string): Promise<string | null> {
  return Promise.resolve(localStorage.getItem(name));
}

/** Makes a file, or replaces it. */
export async function writeText(name: string, text: string): Promise<void> {
  localStorage.setItem(name, text);
  return Promise.resolve();
}
