// Predicted classes.
/** The classes of `scores` with `threshold` or more: the best `top`, best first, and of equal ones the first. */
export function classificationsOf(scores, labels, top, threshold) {
    return Array.from(scores, (score, index) => ({ label: labels[index] ?? '', index, score }))
        .filter(({ score }) => score >= threshold)
        .sort((one, other) => other.score - one.score || one.index - other.index)
        .slice(0, top);
}
