// Named points in pictures.
/** One for each of `labels`, with two numbers of `points`. */
export function keypointsOf(points, scores, labels) {
    return labels.map((label, at) => {
        const [x = 0, y = 0] = points.subarray(2 * at, 2 * at + 2);
        return { label, x, y, score: scores[at] ?? 0 };
    });
}
