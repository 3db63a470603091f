// A loaded model that takes and gives tensors alone.
import { latestOf } from './frames.js';
import { AnyModel } from './model.js';
/** A loaded model without pictures, sounds or labels. */
export class PlainModel extends AnyModel {
    /**
     * `run` of the latest frame of `source`, one after the other: of frames that come while the model is busy all but the
     * last are dropped. Ends with its source; leaving the loop ends the source.
     */
    frames(source) {
        return latestOf(source, (frame, signal) => this.run(frame, { signal }));
    }
}
