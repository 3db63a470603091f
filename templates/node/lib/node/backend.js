/// <reference types="node" />
// Runs the models of a package under Node and in Electron, with onnxruntime-node.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { ModelError } from '../runtime/errors.js';
import { OnnxRuntimeBackend } from '../runtime/onnxruntimeBackend.js';
import { checkFile, fileOf } from './files.js';
import { THREADED } from './thread.js';
const RUNTIME = 'onnxruntime-node';
const SPINNING = 'session.intra_op.allow_spinning';
export class NodeBackend extends OnnxRuntimeBackend {
    platform = 'node';
    constructor() {
        super(THREADED, { read: readFile });
        // Of ONNX Runtime, which may report runs to a vendor.
        process.env['ORT_DISABLE_TELEMETRY'] ??= '1';
    }
    about() {
        return { runtimeVersion: versionOf(RUNTIME), bundle: '', cache: '', threads: availableParallelism() };
    }
    locate(path, _size = -1, url = '') {
        return Promise.resolve({ path: url === '' ? path : fileOf(url), offset: 0 });
    }
    open(request, model) {
        refuseOldNode();
        const settingKeys = [...request.settingKeys, SPINNING];
        const settingValues = [...request.settingValues, request.spinning ? '1' : '0'];
        return super.open({ ...request, settingKeys, settingValues }, model);
    }
    residentBytes() {
        return process.memoryUsage.rss();
    }
    /** A path: ONNX Runtime maps weights that lie beside the model under the names that it has for them. */
    async given(request, model) {
        const { file, weights } = request;
        const isBeside = weights.every(({ name, path }) => name === basename(path) && dirname(path) === dirname(file.path));
        if (model !== null || !isBeside)
            return super.given(request, model);
        let sizeBytes = 0;
        for (const part of [file, ...weights])
            sizeBytes += await checkFile(part);
        return { model: file.path, externalData: [], sizeBytes };
    }
}
/** @throws ModelError `unsupported` */
function refuseOldNode() {
    const { name, engines } = createRequire(import.meta.url)('../../package.json');
    const oldest = engines.node.replace('>=', '');
    const found = process.versions.node;
    if (found.localeCompare(oldest, 'en', { numeric: true }) >= 0)
        return;
    throw new ModelError('unsupported', `this is Node ${found}, and ${name} needs ${oldest} or later`);
}
/** @throws ModelError `not-linked` */
function versionOf(name) {
    try {
        const { version } = createRequire(import.meta.url)(`${name}/package.json`);
        return version;
    }
    catch (reason) {
        throw new ModelError('not-linked', `${name} is not installed beside this package: npm install ${name}`, { cause: reason });
    }
}
