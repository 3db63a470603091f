import type { Box, Detection } from './boxes.js';
import type { Picture } from './picture.js';
/** The part of a picture that `box` touches, in whole pixels as they lie in memory: at least one, and none outside. */
export declare function partOf(picture: Picture, box: Box): Picture;
/**
 * `boxes`, unless there are more than `most`.
 *
 * @throws ModelError `runtime`
 */
export declare function atMost(most: number, pipeline: string, boxes: readonly Detection[]): readonly Detection[];
/** Whether the score of a box is `least` or more, as 32-bit floats. */
export declare function reaches(least: number, { score }: Detection): boolean;
/** The model that `loading` gives. Where it fails, the models `before` are disposed of in their order. */
export declare function loadedAfter<Model>(before: readonly {
    dispose: () => void;
}[], loading: Promise<Model>): Promise<Model>;
