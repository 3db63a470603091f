// The document of a channel: which releases of which models there are, and for whom.

import type { Settings, Tolerance } from '../descriptor.js';
import { distinct, Fields, FormError } from './fields.js';
import type { Blob } from './platform.js';

/** A blob that makes a file of another one. */
export interface ChannelDelta extends Blob {
  /** SHA-256 of what it is applied to. */
  readonly source: string;
}

/** A file of a release. */
export interface ChannelBlob extends Blob {
  /** In the package; of data, what the model's file calls it. */
  readonly name: string;
  readonly deltas: readonly ChannelDelta[];
}

/** File that a provider opens on a target. */
export interface ChannelFile {
  readonly target: string;
  readonly inside: string;
  readonly provider: string;
  /** Empty for any. */
  readonly chips: readonly string[];
  readonly runtime: string;
  /** ONNX Runtimes that may open it, beside `runtime`; empty for none. */
  readonly runtimeRange: string;
  readonly file: ChannelBlob;
  /** Files with weights. */
  readonly data: readonly ChannelBlob[];
  readonly settings: Settings;
  /** Samples; null for a release without a self-test. */
  readonly golden: ChannelBlob | null;
  readonly allowed: readonly Tolerance[];
}

/** Conditions that a device must meet to download a release. */
export interface ChannelConditions {
  readonly wifi: boolean;
  readonly charging: boolean;
  readonly freeBytes: number;
}

/** A version of a model. */
export interface ChannelRelease {
  readonly version: string;
  readonly number: number;
  readonly contract: string;
  /** The oldest version of the package that may take it; empty for any. */
  readonly minApp: string;
  readonly rollout: { readonly percent: number; readonly salt: string };
  readonly conditions: ChannelConditions;
  readonly files: readonly ChannelFile[];
}

/** Document of a channel. */
export interface ChannelDocument {
  readonly packageName: string;
  readonly channel: string;
  readonly number: number;
  /** Milliseconds since 1970, as whoever has signed it had them. */
  readonly published: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** By the models' names; the newest release is the first. */
  readonly models: ReadonlyMap<string, readonly ChannelRelease[]>;
}

const SCHEMA_VERSION = 1;

/**
 * Reads a document.
 *
 * @throws FormError; SyntaxError for what is no JSON
 */
export function readDocument(text: string): ChannelDocument {
  const fields = new Fields(JSON.parse(text), 'the document');
  if (fields.whole('schema-version') !== SCHEMA_VERSION) {
    throw new FormError(`it has schema version ${String(fields.whole('schema-version'))}, and this app reads 1`);
  }
  const number = fields.whole('number');
  if (number === 0) throw new FormError('its number is 0');
  const models = fields.list('models', (model) => {
    const releases = distinct(model.list('releases', readRelease), ({ version }) => version, 'version');
    return [model.name('name'), releases] as const;
  });
  return {
    packageName: fields.name('package'),
    channel: fields.name('channel'),
    number,
    published: fields.time('published'),
    expires: fields.time('expires'),
    models: new Map(distinct(models, ([name]) => name, 'model')),
  };
}

function readRelease(fields: Fields): ChannelRelease {
  const rollout = fields.object('rollout');
  const conditions = fields.object('conditions');
  const percent = rollout.whole('percent');
  if (percent > 100) throw new FormError('a rollout has more than 100 %');
  const minApp = fields.text('min-app');
  return {
    version: fields.name('version'),
    number: fields.whole('number'),
    contract: fields.sha256('contract'),
    minApp: minApp === '' ? '' : fields.name('min-app'),
    rollout: { percent, salt: rollout.text('salt') },
    conditions: {
      wifi: conditions.flag('wifi'),
      charging: conditions.flag('charging'),
      freeBytes: conditions.whole('free-bytes'),
    },
    files: fields.list('files', readFile),
  };
}

function readFile(fields: Fields): ChannelFile {
  const golden = fields.list('golden', readBlob);
  if (golden.length > 1) throw new FormError('a file has samples twice');
  return {
    target: fields.text('target'),
    inside: fields.text('inside'),
    provider: fields.text('provider'),
    chips: fields.texts('chips'),
    runtime: fields.text('runtime'),
    runtimeRange: fields.text('runtime-range'),
    file: readBlob(fields.object('file')),
    data: fields.list('data', readBlob),
    settings: Object.fromEntries(fields.list('settings', (each) => [each.text('key'), each.text('value')] as const)),
    golden: golden[0] ?? null,
    allowed: fields.list('allowed', readTolerance),
  };
}

function readBlob(fields: Fields): ChannelBlob {
  return {
    name: fields.name('name'),
    sha256: fields.sha256('sha256'),
    sizeBytes: fields.whole('size-bytes'),
    deltas: fields.list('deltas', (delta) => ({
      source: delta.sha256('source'),
      sha256: delta.sha256('sha256'),
      sizeBytes: delta.whole('size-bytes'),
    })),
  };
}

function readTolerance(fields: Fields): Tolerance {
  return {
    output: fields.text('output'),
    rtol: fields.amount('rtol'),
    atol: fields.amount('atol'),
    scale: fields.amount('scale'),
    mismatches: fields.whole('mismatches'),
  };
}
