// What a generated file says of its model.
import { ModelError } from './errors.js';
/** A file for any chip, without settings and weights of its own. */
export const PLAIN_FILE = {
    chips: [],
    settings: {},
    weights: [],
    isFloat16: false,
};
/**
 * Files for a platform. A package for apps has no files for the web: there it opens those for the CPU of any
 * Android device.
 *
 * @throws ModelError `unsupported`
 */
export function platformFiles({ className, platforms }, platform) {
    const own = platforms[platform];
    if (own !== undefined)
        return own;
    const { android } = platforms;
    if (platform !== 'web' || android === undefined) {
        throw new ModelError('unsupported', `the package has no files of ${className} for ${platform}`);
    }
    const { files, ...setup } = android;
    return { ...setup, providers: [], files: files.filter(isForAnyCpu) };
}
function isForAnyCpu(file) {
    return file.providers.includes('cpu') && file.chips.length === 0;
}
