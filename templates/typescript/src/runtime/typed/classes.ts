// Predicted classes.

/** A class that a model predicts. */
export interface Classification {
  /** Its name; empty when the model's classes have no names. */
  readonly label: string;
  /** Its number among the model's classes, from 0 on. */
  readonly index: number;
  /** The model's confidence. */
  readonly score: number;
}

/** The classes of `scores` with `threshold` or more: the best `top`, best first, and of equal ones the first. */
export function classificationsOf(
  scores: Float32Array,
  labels: readonly string[],
  top: number,
  threshold: number,
): readonly Classification[] {
  return Array.from(scores, (score, index) => ({ label: labels[index] ?? '', index, score }))
    .filter(({ score }) => score >= threshold)
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, top);
}
