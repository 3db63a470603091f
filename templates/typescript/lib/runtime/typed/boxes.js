// Detected objects.
/** The detected objects, in the model's order: `boxes` has four numbers for each. */
export function detectionsOf(boxes, scores, classes, labels) {
    return Array.from(scores, (score, number) => {
        const [left = 0, top = 0, right = 0, bottom = 0] = boxes.subarray(4 * number, 4 * number + 4);
        const index = Number(classes[number] ?? 0n);
        return { label: labels[index] ?? '', index, score, box: { left, top, right, bottom } };
    });
}
