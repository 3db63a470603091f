// The page that searches notes: as somebody types, the notes nearest in meaning.

import { openSearch } from './search.js';

const SHOWN = 5;
const [query, found, state] = ['query', 'found', 'state'].map((id) => document.getElementById(id));

function show(results) {
  found.replaceChildren(
    ...results.map(({ note, score }) => {
      const [entry, heading, title, share, text] = ['article', 'h2', 'span', 'span', 'p'].map((tag) =>
        document.createElement(tag),
      );
      [title.textContent, share.textContent, text.textContent] = [note.title, score.toFixed(2), note.text];
      heading.append(title, share);
      entry.append(heading, text);
      return entry;
    }),
  );
}

function tell(error) {
  state.textContent = `${error.code ?? error.name}: ${error.message}`;
}

try {
  const notes = await (await fetch('notes.json')).json();
  const search = await openSearch(notes, ({ loadedBytes, totalBytes }) => {
    state.textContent = `Loading the model: ${Math.round((100 * loadedBytes) / totalBytes)} %`;
  });
  state.textContent = `${notes.length} notes on this device, ${search.made} of them new`;
  /** Ends the search before the latest one. */
  let latest = new AbortController();
  query.oninput = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    try {
      const results = query.value.trim() === '' ? [] : await search.nearest(query.value, SHOWN, { signal });
      if (!signal.aborted) show(results);
    } catch (error) {
      if (!signal.aborted) tell(error);
    }
  };
  query.disabled = false;
  query.focus();
} catch (error) {
  tell(error);
}
