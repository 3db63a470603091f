// What generated code says of the channel that delivers a package's models.
import { isSecure } from '../downloadRequest.js';
const MINOR = 2 ** 20;
const MAJOR = 2 ** 40;
/** The place of a version in the order of releases, as docs/signing.md has it: a pre-release has that of its release. */
export function releaseNumber(version) {
    const [core = ''] = version.split(/[+-]/);
    const [major = 0, minor = 0, patch = 0] = core.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
    return Math.min(major, 2 ** 13 - 1) * MAJOR + Math.min(minor, MINOR - 1) * MINOR + Math.min(patch, MINOR - 1);
}
/** Whether nobody on the way can change what is sent: by `https:`, or within the device on which a page is developed. */
export function isSafe(address) {
    const { location } = globalThis;
    return isSecure(address) || (isOfThisDevice(address) && isOfThisDevice(location?.href ?? ''));
}
function isOfThisDevice(address) {
    return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\//.test(address);
}
