// The releases of a model in a channel, and for whom they are.

import type { Settings, Tolerance } from '../descriptor.js';
import type { Delivery } from './delivery.js';
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

const SCHEMA_VERSION = 1;

/**
 * Reads the list of a model's releases; the newest is the first.
 *
 * @throws FormError; SyntaxError for what is no JSON
 */
export function readReleases(text: string, { packageName, channel }: Delivery, model: string): readonly ChannelRelease[] {
  const fields = new Fields(JSON.parse(text), 'the list');
  if (fields.whole('schema-version') !== SCHEMA_VERSION) {
    throw new FormError(`it has schema version ${String(fields.whole('schema-version'))}, and this app reads 1`);
  }
  const found = [fields.name('model'), fields.name('channel'), fields.name('package')].join(' of ');
  const wanted = [model, channel, packageName].join(' of ');
  if (found !== wanted) throw new FormError(`it is that of ${found}, not of ${wanted}`);
  return distinct(fields.list('releases', readRelease), ({ version }) => version, 'version');
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
