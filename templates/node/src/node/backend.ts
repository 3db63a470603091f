/// <reference types="node" />
// Runs the models of a package under Node and in Electron, with onnxruntime-node.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import type { About, Opened, OpenRequest, Place, Platform } from '../runtime/backend.js';
import { ModelError } from '../runtime/errors.js';
import { OnnxRuntimeBackend, type Given } from '../runtime/onnxruntimeBackend.js';
import { checkFile, fileOf } from './files.js';
import { THREADED } from './thread.js';

const RUNTIME = 'onnxruntime-node';
const SPINNING = 'session.intra_op.allow_spinning';

export class NodeBackend extends OnnxRuntimeBackend {
  override readonly platform: Platform = 'node';

  constructor() {
    super(THREADED, { read: readFile });
    // Of ONNX Runtime, which may report runs to a vendor.
    process.env['ORT_DISABLE_TELEMETRY'] ??= '1';
  }

  override about(): About {
    return { runtimeVersion: versionOf(RUNTIME), bundle: '', cache: '', threads: availableParallelism() };
  }

  override locate(path: string, _size = -1, url = ''): Promise<Place> {
    return Promise.resolve({ path: url === '' ? path : fileOf(url), offset: 0 });
  }

  override open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened> {
    refuseOldNode();
    const settingKeys = [...request.settingKeys, SPINNING];
    const settingValues = [...request.settingValues, request.spinning ? '1' : '0'];
    return super.open({ ...request, settingKeys, settingValues }, model);
  }

  override residentBytes(): number {
    return process.memoryUsage.rss();
  }

  /** A path: ONNX Runtime maps weights that lie beside the model under the names that it has for them. */
  protected override async given(request: OpenRequest, model: ArrayBuffer | null): Promise<Given> {
    const { file, weights } = request;
    const isBeside = weights.every(({ name, path }) => name === basename(path) && dirname(path) === dirname(file.path));
    if (model !== null || !isBeside) return super.given(request, model);
    let sizeBytes = 0;
    for (const part of [file, ...weights]) sizeBytes += await checkFile(part);
    return { model: file.path, externalData: [], sizeBytes };
  }
}

/** @throws ModelError `unsupported` */
function refuseOldNode(): void {
  const { name, engines } = createRequire(import.meta.url)('../../package.json') as { name: string; engines: { node: string } };
  const oldest = engines.node.replace('>=', '');
  const found = process.versions.node;
  if (found.localeCompare(oldest, 'en', { numeric: true }) >= 0) return;
  throw new ModelError('unsupported', `this is Node ${found}, and ${name} needs ${oldest} or later`);
}

/** @throws ModelError `not-linked` */
function versionOf(name: string): string {
  try {
    const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { readonly version: string };
    return version;
  } catch (reason) {
    throw new ModelError('not-linked', `${name} is not installed beside this package: npm install ${name}`, { cause: reason });
  }
}
