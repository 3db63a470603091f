// From the address of a picture to its pixels, decoded and turned by a browser.
import { ModelError } from '../errors.js';
import { maxSizeOf } from './decoding.js';
/** @throws ModelError `missing`: nothing is there; `bad-input`: it is no picture; `unsupported`: there is no canvas */
export async function drawnPicture(uri, options) {
    const longest = maxSizeOf(uri, options);
    const browser = globalThis;
    if (!isWhole(browser)) {
        throw new ModelError('unsupported', 'nothing decodes pictures here: pass pixels to the model');
    }
    const bitmap = await decoded(browser, uri, await contentOf(uri));
    try {
        return drawn(browser, bitmap, longest);
    }
    finally {
        bitmap.close();
    }
}
function isWhole(browser) {
    return browser.createImageBitmap !== undefined && browser.document !== undefined;
}
async function contentOf(uri) {
    const response = await fetch(uri).catch((reason) => {
        throw new ModelError('missing', `${uri}: ${String(reason)}`, { cause: reason });
    });
    if (!response.ok)
        throw new ModelError('missing', `${uri} was answered with ${String(response.status)}`);
    return response.blob();
}
async function decoded(browser, uri, content) {
    return browser.createImageBitmap(content).catch((reason) => {
        throw new ModelError('bad-input', `${uri} is no picture that this browser can decode`, { cause: reason });
    });
}
function drawn(browser, bitmap, longest) {
    const shrink = longest === 0 ? 1 : Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
    const canvas = browser.document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(bitmap.width * shrink));
    canvas.height = Math.max(1, Math.round(bitmap.height * shrink));
    // Without alpha: what is transparent is drawn on black, as phones have it.
    const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
    if (context === null)
        throw new ModelError('unsupported', 'the browser has no canvas');
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return context.getImageData(0, 0, canvas.width, canvas.height);
}
