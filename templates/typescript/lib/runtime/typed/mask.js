// Segmentation masks.
/** A mask of the model's two tensors. */
export function segmented(classes, scores, labels) {
    const [height, width] = classes.shape;
    return { width, height, classes: classes.data, scores: scores.data, labels };
}
