// Elements of a list by their scores.

/** An element of a list, and its score. */
export interface Ranked {
  /** Its place in the list, from 0 on. */
  readonly index: number;
  readonly score: number;
}

/** The only one of `scores`. */
export function scoreOf(scores: Float32Array): number {
  const [score = Number.NaN] = scores;
  return score;
}

/** The places of `scores`, best first; of equal ones the first comes first, and what is no number counts as lowest. */
export function ranked(scores: readonly number[]): readonly Ranked[] {
  const keys = scores.map((score) => (Number.isNaN(score) ? -Infinity : score));
  const key = (place: Ranked): number => keys[place.index] ?? 0;
  return scores
    .map((score, index) => ({ index, score }))
    .sort((first, second) => {
      if (key(first) === key(second)) return first.index - second.index;
      return key(first) > key(second) ? -1 : 1;
    });
}

/** The places of `documents` by the scores that `scored` gives to one after the other. */
export async function rankedBy(
  documents: readonly string[],
  scored: (document: string) => Promise<number>,
): Promise<readonly Ranked[]> {
  const scores: number[] = [];
  for (const document of documents) scores.push(await scored(document));
  return ranked(scores);
}
