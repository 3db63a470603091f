// Copies of what an app passes, which it may change while a call waits.

/** Whether a buffer lies in native memory. An app leaves that as it is until its call has ended. */
export type IsNative = (buffer: ArrayBuffer) => boolean;

const NOWHERE: IsNative = () => false;

/** A copy of arrays, and of objects that hold them; arrays over native memory are not copied. */
export function copied<Given extends object>(given: Given, isNative: IsNative = NOWHERE): Given {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, copyOf(value, isNative)])) as Given;
}

function copyOf(value: unknown, isNative: IsNative): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value) && isNative(value.buffer as ArrayBuffer)) return value;
  if ('slice' in value && typeof value.slice === 'function') return (value.slice as () => unknown)();
  return copied(value, isNative);
}
