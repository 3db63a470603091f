// Segmentation masks.
/** A mask of the model's two tensors. */
export function maskOf(classes, scores, labels) {
    const [height, width] = classes.shape;
    return { width, height, classes: classes.data, scores, labels };
}
