// Phones have ONNX Runtime in the package itself: there is nothing to prepare.

/** Makes models run. */
export async function prepareRuntime(): Promise<void> {
  return Promise.resolve();
}
