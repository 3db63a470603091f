/** Whether a buffer lies in native memory. An app leaves that as it is until its call has ended. */
export type IsNative = (buffer: ArrayBuffer) => boolean;
/** A copy of arrays, and of objects that hold them; arrays over native memory are not copied. */
export declare function copied<Given extends object>(given: Given, isNative?: IsNative): Given;
