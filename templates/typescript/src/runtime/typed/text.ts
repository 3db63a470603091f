// The text that a model reads.

/** A text that a model read. */
export interface Reading {
  readonly text: string;
  /** The model's mean confidence in its symbols; 0 when it read nothing. */
  readonly score: number;
}

/** The text that `symbols`, positions in `alphabet`, are. */
export function readingOf(symbols: BigInt64Array, scores: Float32Array, alphabet: readonly string[]): Reading {
  const text = Array.from(symbols, (symbol) => alphabet[Number(symbol)] ?? '').join('');
  const sum = scores.reduce((total, score) => total + score, 0);
  return { text, score: scores.length === 0 ? 0 : sum / scores.length };
}
