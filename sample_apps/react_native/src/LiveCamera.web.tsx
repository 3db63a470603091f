// Browsers show pictures alone: VisionCamera is for phones.

import type { LiveProps } from './liveProps';

/** Whether this platform has the view. */
export const hasCamera: boolean = false;

export function LiveCamera(_props: LiveProps): null {
  return null;
}
