// Elements of a list by their scores.
/** The only one of `scores`. */
export function scoreOf(scores) {
    const [score = Number.NaN] = scores;
    return score;
}
/** The places of `scores`, best first; of equal ones the first comes first, and what is no number counts as lowest. */
export function ranked(scores) {
    const keys = scores.map((score) => (Number.isNaN(score) ? -Infinity : score));
    const key = (place) => keys[place.index] ?? 0;
    return scores
        .map((score, index) => ({ index, score }))
        .sort((first, second) => {
        if (key(first) === key(second))
            return first.index - second.index;
        return key(first) > key(second) ? -1 : 1;
    });
}
/** The places of `documents` by the scores that `scored` gives to one after the other. */
export async function rankedBy(documents, scored) {
    const scores = [];
    for (const document of documents)
        scores.push(await scored(document));
    return ranked(scores);
}
