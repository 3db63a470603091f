// Copies of what an app passes, which it may change while a call waits.

/** A copy of arrays, and of objects that hold them. */
export function copied<Given extends object>(given: Given): Given {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, copyOf(value)])) as Given;
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('slice' in value && typeof value.slice === 'function') return (value.slice as () => unknown)();
  return copied(value);
}
