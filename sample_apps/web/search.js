// Finds notes by meaning. A model of the package makes a vector of each note, once: the browser keeps them.

import { Embedder, Similarity } from './notes/lib/index.js';

const [DATABASE, STORE] = ['notes', 'vectors'];

/**
 * Loads the model, and makes the vectors of those notes that have none yet.
 *
 * @param notes each with `title` and `text`
 * @param onProgress gets `{ loadedBytes, totalBytes }` while the model is loaded
 */
export async function openSearch(notes, onProgress) {
  const model = await Embedder.load({ onProgress });
  const kept = await keptVectors(model.info.sha256);
  const vectors = new Map();
  for (const words of notes.map(wordsOf)) {
    vectors.set(words, kept.get(words) ?? (await model.embed(words)));
  }
  await keepVectors(model.info.sha256, vectors);
  const ofNotes = notes.map((note) => vectors.get(wordsOf(note)));
  return {
    model,
    /** Number of notes whose vectors were made by this call. */
    made: [...vectors.keys()].filter((words) => !kept.has(words)).length,
    /** The `count` notes nearest to a query, each `{ note, score }` with the cosine of the two vectors: best first. */
    async nearest(query, count, options) {
      const found = Similarity.nearest(await model.embed(query, options), ofNotes, count);
      return found.map(({ index, score }) => ({ note: notes[index], score }));
    },
  };
}

/** The words of a note that count. */
function wordsOf({ title, text }) {
  return `${title}. ${text}`;
}

/** Vectors of an earlier visit, by the words that they are of; none if another model made them. */
async function keptVectors(model) {
  return (await inStore('readonly', (store) => store.get(model))) ?? new Map();
}

/** Keeps these vectors, and no others. */
async function keepVectors(model, vectors) {
  await inStore('readwrite', (store) => {
    store.clear();
    return store.put(vectors, model);
  });
}

/** The result of what `request` asks of the browser's database. */
async function inStore(mode, request) {
  const opening = indexedDB.open(DATABASE);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await resultOf(opening);
  try {
    return await resultOf(request(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
