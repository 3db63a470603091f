export { recordingFrom, soundBlocks, type BlockOptions, type RecordingOptions, type RecordingSource } from './web/recordings.js';
export type { Sound } from './runtime/typed/sound.js';
