// Detected objects with their pixels.
/** The detected objects, in the model's order: `boxes` and `areas` have four numbers for each, `places` its mask. */
export function instancesOf(boxes, scores, classes, areas, places, labels) {
    let end = 0;
    return Array.from(scores, (score, number) => {
        const [left = 0, top = 0, right = 0, bottom = 0] = boxes.subarray(4 * number, 4 * number + 4);
        const [column = 0, row = 0, width = 0, height = 0] = areas.subarray(4 * number, 4 * number + 4);
        const index = Number(classes[number] ?? 0n);
        const start = end;
        end += width * height;
        const mask = { left: column, top: row, width, height, places: places.slice(start, end) };
        return { label: labels[index] ?? '', index, score, box: { left, top, right, bottom }, mask };
    });
}
