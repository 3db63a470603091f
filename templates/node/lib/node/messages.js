// What a session and its thread tell each other. One question at a time is open.
/** State of a thread from when it is asked until it has an answer; otherwise the state is 0. */
export const BUSY = 1;
/** Memory that nothing else lies in: it moves to the other thread instead of being copied. */
export function movable(tensors) {
    const whole = Object.values(tensors).flatMap(({ data }) => data instanceof Uint8Array && data.byteLength === data.buffer.byteLength && data.buffer instanceof ArrayBuffer ? [data.buffer] : []);
    return [...new Set(whole)];
}
