// Takes newer models from a channel, if the address of the page names one: ?channel=https://models.example.com/vision/

/** A ModelUpdater of the package in `folder`; null without a channel. */
export async function updaterOf(folder) {
  const channel = new URLSearchParams(location.search).get('channel');
  if (channel === null) return null;
  const { ModelUpdater } = await import(`./${folder}/lib/updates.js`);
  return new ModelUpdater(new URL(channel, location.href).href);
}
