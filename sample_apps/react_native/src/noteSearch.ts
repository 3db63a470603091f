// Finds notes by meaning. The model makes a vector of each note, once: a file keeps them.

import { Similarity, type CallOptions, type Embedder } from 'react-native-notes';

import { readText, writeText } from './storage';

const FILE = 'note-vectors.json';

export interface Note {
  readonly title: string;
  readonly text: string;
}

/** A note, and how near it is to a query: the cosine of the two vectors. */
export interface Found {
  readonly note: Note;
  readonly score: number;
}

export class NoteSearch {
  private constructor(
    private readonly model: Embedder,
    private readonly notes: readonly Note[],
    private readonly vectors: readonly Float32Array[],
    /** Number of notes that had no vector yet. */
    readonly made: number,
  ) {}

  /** Makes the vectors of those notes that have none in the file, and keeps them there. */
  static async of(model: Embedder, notes: readonly Note[], options: CallOptions = {}): Promise<NoteSearch> {
    const kept = await keptVectors(model.info.sha256);
    const vectors: Float32Array[] = [];
    for (const words of notes.map(wordsOf)) {
      vectors.push(kept.get(words) ?? (await model.embed(words, options)));
    }
    const made = notes.filter((note) => !kept.has(wordsOf(note))).length;
    if (made > 0 || kept.size > notes.length) await keepVectors(model.info.sha256, notes, vectors);
    return new NoteSearch(model, notes, vectors, made);
  }

  /** The `count` notes nearest to a query, best first. */
  async nearest(query: string, count: number, options: CallOptions = {}): Promise<readonly Found[]> {
    const nearest = Similarity.nearest(await this.model.embed(query, options), this.vectors, count);
    return nearest.flatMap(({ index, score }) => {
      const note = this.notes[index];
      return note === undefined ? [] : [{ note, score }];
    });
  }
}

/** The words of a note that a search compares. */
function wordsOf({ title, text }: Note): string {
  return `${title}. ${text}`;
}

/** The file: vectors by the words that they are of, and the model that made them. */
interface Kept {
  readonly model: string;
  readonly vectors: Readonly<Record<string, readonly number[]>>;
}

/** Vectors of an earlier start; none if another model made them, or if the file is damaged. */
async function keptVectors(model: string): Promise<ReadonlyMap<string, Float32Array>> {
  try {
    const kept = JSON.parse((await readText(FILE)) ?? '{}') as Partial<Kept>;
    const entries = kept.model === model ? Object.entries(kept.vectors ?? {}) : [];
    return new Map(entries.map(([words, vector]) => [words, Float32Array.from(vector)]));
  } catch {
    return new Map();
  }
}

async function keepVectors(model: string, notes: readonly Note[], vectors: readonly Float32Array[]): Promise<void> {
  const entries = notes.map((note, place) => [wordsOf(note), [...(vectors[place] ?? [])]] as const);
  const kept: Kept = { model, vectors: Object.fromEntries(entries) };
  await writeText(FILE, JSON.stringify(kept));
}
