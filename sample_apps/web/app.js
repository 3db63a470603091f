// Says what is in a picture or before the camera. The model does all computing, in a worker of the package.

import { Classifier } from './vision/lib/index.js';
import { pictureFrom, videoFrames } from './vision/lib/image.js';
import { updaterOf } from './updates.js';

const [shown, classes, state, file, camera] = ['shown', 'classes', 'state', 'file', 'camera'].map((id) =>
  document.getElementById(id),
);
/** Ends the camera; null while it is off. */
let stopCamera = null;

/** Draws a picture and its classes. */
function show(picture, found) {
  [shown.width, shown.height] = [picture.width, picture.height];
  shown.getContext('2d').putImageData(picture, 0, 0);
  classes.replaceChildren(
    ...found.map(({ label, score }) => {
      const [entry, name, share] = ['li', 'span', 'span'].map((tag) => document.createElement(tag));
      [name.textContent, share.textContent] = [label, `${(100 * score).toFixed(1)} %`];
      entry.append(name, share);
      return entry;
    }),
  );
}

function tell(error) {
  state.textContent = `${error.code ?? error.name}: ${error.message}`;
}

/** Classifies what the camera sees until `stopCamera` is called. */
async function watch(model) {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  const video = document.createElement('video');
  stopCamera = () => {
    for (const track of stream.getTracks()) track.stop();
    stopCamera = null;
    camera.textContent = 'Camera';
  };
  camera.textContent = 'Stop';
  video.srcObject = stream;
  await video.play();
  let latest = null;
  /** The frames, each remembered for when its classes are there. */
  async function* pictures() {
    for await (const picture of videoFrames(video, { maxSize: 512 })) {
      if (stopCamera === null) return;
      latest = picture;
      yield picture;
    }
  }
  for await (const found of model.frames(pictures())) show(latest, found);
}

try {
  const updater = await updaterOf('vision');
  const model = await Classifier.load({
    ...(updater && { source: updater.source }),
    onProgress: ({ loadedBytes, totalBytes }) => {
      state.textContent = `Loading the model: ${Math.round((100 * loadedBytes) / totalBytes)} %`;
    },
  });
  state.textContent = `ONNX Runtime ${model.info.onnxRuntimeVersion}, on this device`;
  if (updater) state.textContent += `, model ${model.info.version}`;
  const classify = async (source) => {
    stopCamera?.();
    const picture = await pictureFrom(source, { maxSize: 1024 });
    show(picture, await model.classify(picture));
  };
  file.onchange = () => {
    if (file.files.length > 0) classify(file.files[0]).catch(tell);
  };
  camera.onclick = () => {
    if (stopCamera === null) watch(model).catch(tell);
    else stopCamera();
  };
  [file.disabled, camera.disabled] = [false, false];
  await classify('coffee.jpg');
  if (updater && (await updater.update()).classifier.phase === 'ready') state.textContent += ': the next visit has a newer one';
} catch (error) {
  tell(error);
}
