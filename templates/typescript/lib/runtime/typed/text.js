// The text that a model reads.
/** The text that `symbols`, positions in `alphabet`, are. */
export function readingOf(symbols, scores, alphabet) {
    const text = Array.from(symbols, (symbol) => alphabet[Number(symbol)] ?? '').join('');
    const sum = scores.reduce((total, score) => total + score, 0);
    return { text, score: scores.length === 0 ? 0 : sum / scores.length };
}
