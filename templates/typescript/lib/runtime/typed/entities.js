// Named parts of a text.
/** The parts of `text` from the code points `starts` to those before `ends`, in its order. */
export function entitiesOf(classes, starts, ends, scores, text, labels) {
    const places = placesOf(text);
    return Array.from(scores, (score, number) => {
        const start = places[Number(starts[number])] ?? text.length;
        const end = places[Number(ends[number])] ?? text.length;
        return { label: labels[Number(classes[number])] ?? '', text: text.slice(start, end), start, end, score };
    });
}
/** The index of each code point of `text`. */
function placesOf(text) {
    const places = [];
    let index = 0;
    for (const point of text) {
        places.push(index);
        index += point.length;
    }
    return places;
}
