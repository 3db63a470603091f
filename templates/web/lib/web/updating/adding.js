// Differences of a delta, added to values: unsigned integers of 1, 2, 4 or 8 bytes, little-endian.
/** Adds to the values in `span` at `places`, or to all of them, differences in planes and in zigzag, modulo 2^(8 * width). */
export function addDifferences(span, width, planes, places) {
    const count = planes.length / width;
    for (let index = 0; index < count; index += 1) {
        const at = (places === null ? index : (places[index] ?? 0)) * width;
        let low = 0;
        let high = 0;
        for (let plane = 0; plane < width; plane += 1) {
            const byte = planes[plane * count + index] ?? 0;
            if (plane < 4)
                low |= byte << (8 * plane);
            else
                high |= byte << (8 * (plane - 4));
        }
        const sign = -(low & 1);
        addAt(span, at, width, ((low >>> 1) | (high << 31)) ^ sign, (high >>> 1) ^ sign);
    }
}
/** The low and the high half of a number: of those that are narrower, the low one alone counts. */
function addAt(span, at, width, low, high) {
    const narrow = Math.min(width, 4);
    const sum = (readAt(span, at, narrow) >>> 0) + (low >>> 0);
    writeAt(span, at, narrow, sum | 0);
    if (width === 8)
        writeAt(span, at + 4, 4, readAt(span, at + 4, 4) + high + (sum >= 2 ** 32 ? 1 : 0));
}
function readAt(span, at, width) {
    let value = 0;
    for (let byte = 0; byte < width; byte += 1)
        value |= (span[at + byte] ?? 0) << (8 * byte);
    return value;
}
function writeAt(span, at, width, value) {
    for (let byte = 0; byte < width; byte += 1)
        span[at + byte] = value >>> (8 * byte);
}
/**
 * The places of values whose gaps are in planes: how many values lie before each, since the one before it. Null when one is
 * not below `count`.
 */
export function placesOf(planes, gapWidth, count) {
    const places = new Uint32Array(planes.length / gapWidth);
    let next = 0;
    for (let index = 0; index < places.length; index += 1) {
        let gap = 0;
        for (let plane = 0; plane < gapWidth; plane += 1)
            gap |= (planes[plane * places.length + index] ?? 0) << (8 * plane);
        const place = next + gap;
        if (place >= count)
            return null;
        places[index] = place;
        next = place + 1;
    }
    return places;
}
