// Pictures that models make.
/** The picture of the model's tensor. */
export function rgbaPictureOf({ data, shape: [height, width], }) {
    return { width, height, data: new Uint8ClampedArray(data.buffer, data.byteOffset, data.length) };
}
