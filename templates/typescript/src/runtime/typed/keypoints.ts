// Named points in pictures.

/** A named point, in pixels of the picture when it is upright. It may lie outside. */
export interface Keypoint {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  /** The model's confidence. */
  readonly score: number;
}

/** One for each of `labels`, with two numbers of `points`. */
export function keypointsOf(
  points: Float32Array,
  scores: Float32Array,
  labels: readonly string[],
): readonly Keypoint[] {
  return labels.map((label, at) => {
    const [x = 0, y = 0] = points.subarray(2 * at, 2 * at + 2);
    return { label, x, y, score: scores[at] ?? 0 };
  });
}
