// Named parts of a text.

/** A named part of a text. */
export interface Entity {
  /** Kind of the entity, such as a person or a place. */
  readonly label: string;
  /** The part of the text. */
  readonly text: string;
  /** Where it begins: an index of the text. */
  readonly start: number;
  /** The index after its end. */
  readonly end: number;
  /** The model's confidence. */
  readonly score: number;
}

/** The parts of `text` from the code points `starts` to those before `ends`, in its order. */
export function entitiesOf(
  classes: BigInt64Array,
  starts: BigInt64Array,
  ends: BigInt64Array,
  scores: Float32Array,
  text: string,
  labels: readonly string[],
): readonly Entity[] {
  const places = placesOf(text);
  return Array.from(scores, (score, number) => {
    const start = places[Number(starts[number])] ?? text.length;
    const end = places[Number(ends[number])] ?? text.length;
    return { label: labels[Number(classes[number])] ?? '', text: text.slice(start, end), start, end, score };
  });
}

/** The index of each code point of `text`. */
function placesOf(text: string): readonly number[] {
  const places: number[] = [];
  let index = 0;
  for (const point of text) {
    places.push(index);
    index += point.length;
  }
  return places;
}
