// Phones have ONNX Runtime with the packages themselves: there is nothing to prepare.

/** Makes models run. */
export async function prepareRuntime(): Promise<void> {
  return Promise.resolve();
}
