// A loaded model that takes and gives tensors alone.

import { latestOf, type Frames, type FrameSource } from './frames.js';
import { AnyModel } from './model.js';

/** A loaded model without pictures, sounds or labels. */
export class PlainModel<Inputs extends object, Outputs extends object> extends AnyModel<Inputs, Outputs> {
  /**
   * `run` of the latest frame of `source`, one after the other: of frames that come while the model is busy all but the
   * last are dropped. Ends with its source; leaving the loop ends the source.
   */
  frames(source: FrameSource<Inputs>): Frames<Outputs> {
    return latestOf(source, (frame, signal) => this.run(frame, { signal }));
  }
}
