// The search of notes, for a component.

import { useEffect, useState } from 'react';
import { useEmbedder, type Embedder } from 'react-native-notes';

import notes from '../assets/notes.json';
import { NoteSearch, type Found } from './noteSearch';

const SHOWN = 5;

/** The notes nearest to a query, how far the app is, and what went wrong. */
export interface Search {
  readonly found: readonly Found[];
  readonly state: string;
  readonly problem: string;
}

/** Searches for `query` whenever it is another one, which ends the search for the one before. */
export function useNotes(query: string): Search {
  const { model, error } = useEmbedder();
  const [search, setSearch] = useState<NoteSearch | null>(null);
  const [found, setFound] = useState<readonly Found[]>([]);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    if (model === null) return undefined;
    return start((signal) => NoteSearch.of(model, notes, { signal }), setSearch, setProblem);
  }, [model]);
  useEffect(() => {
    if (search === null || query.trim() === '') {
      setFound([]);
      return undefined;
    }
    return start((signal) => search.nearest(query, SHOWN, { signal }), setFound, setProblem);
  }, [search, query]);
  return { found, state: stateOf(model, search), problem: error?.message ?? problem };
}

/** Starts a task. The function that it returns ends it, and nobody hears of it any more. */
function start<T>(
  task: (signal: AbortSignal) => Promise<T>,
  done: (result: T) => void,
  failed: (problem: string) => void,
): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  task(signal).then(
    (result) => {
      if (!signal.aborted) done(result);
    },
    (reason: unknown) => {
      if (!signal.aborted) failed(String(reason));
    },
  );
  return () => {
    controller.abort();
  };
}

function stateOf(model: Embedder | null, search: NoteSearch | null): string {
  if (model === null) return 'Loading the model …';
  if (search === null) return 'Reading the notes …';
  return `${notes.length} notes on this device, ${search.made} of them new`;
}
