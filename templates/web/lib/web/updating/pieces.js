// Files of an updater: pieces in Cache Storage, as those of the package are kept.
import { ModelError } from '../../runtime/errors.js';
import { CacheOfPackage } from '../keptFiles.js';
/** Size of a piece, the same as that of downloads. */
export const PIECE_BYTES = 2 << 20;
/** Pieces that a cache has: of each file, their offsets. */
export class Pieces {
    kept;
    name;
    caches;
    constructor(name, caches) {
        this.name = `mobpack ${name}`;
        this.caches = caches;
        this.kept = new CacheOfPackage(name, '', caches);
    }
    /** SHA-256 of all files of which there is a piece. */
    async names() {
        return [...(await this.offsets()).keys()];
    }
    /** The file, which is read piece by piece; null where one is missing. */
    async file(sha256) {
        const offsets = (await this.offsets()).get(sha256) ?? [];
        const last = Math.max(...offsets);
        const found = offsets.length === 0 ? undefined : await this.match(sha256, last);
        if (found === undefined || offsets.length !== last / PIECE_BYTES + 1)
            return null;
        const { size } = await found.blob();
        return new KeptFile(this.kept, sha256, last + size);
    }
    async offsets() {
        const found = new Map();
        const cache = await this.caches.open(this.name);
        for (const { url } of await cache.keys()) {
            const [, sha256, offset] = /\/([0-9a-f]{64})\/(\d+)$/.exec(url) ?? [];
            if (sha256 !== undefined)
                found.set(sha256, [...(found.get(sha256) ?? []), Number(offset)]);
        }
        return found;
    }
    async match(sha256, offset) {
        const cache = await this.caches.open(this.name);
        const [request] = (await cache.keys()).filter(({ url }) => url.endsWith(`/${sha256}/${String(offset)}`));
        return request === undefined ? undefined : cache.match(request);
    }
}
/** Reads a file of pieces. The last two that were read stay in memory: deltas go forwards, mostly. */
export class KeptFile {
    sizeBytes;
    kept;
    sha256;
    pieces = new Map();
    constructor(kept, sha256, sizeBytes) {
        this.kept = kept;
        this.sha256 = sha256;
        this.sizeBytes = sizeBytes;
    }
    async read(offset, into) {
        for (let size = 0; size < into.length;) {
            const place = offset + size;
            const start = place - (place % PIECE_BYTES);
            const piece = await this.piece(start);
            const some = piece.subarray(place - start, place - start + into.length - size);
            into.set(some, size);
            size += some.length;
        }
    }
    async piece(start) {
        const known = this.pieces.get(start);
        if (known !== undefined)
            return known;
        const [oldest] = this.pieces.keys();
        if (oldest !== undefined && this.pieces.size > 1)
            this.pieces.delete(oldest);
        const piece = new Uint8Array(Math.min(PIECE_BYTES, this.sizeBytes - start));
        if ((await this.kept.read(this.sha256, start, piece)) === undefined) {
            throw new ModelError('missing', `the browser has lost a part of the file ${this.sha256}`);
        }
        this.pieces.set(start, piece);
        return piece;
    }
}
/** Writes a file in pieces. */
export class PieceWriter {
    kept;
    sha256;
    piece = new Uint8Array(PIECE_BYTES);
    size = 0;
    start = 0;
    constructor(kept, sha256) {
        this.kept = kept;
        this.sha256 = sha256;
    }
    async write(bytes) {
        for (let taken = 0; taken < bytes.length;) {
            const some = bytes.subarray(taken, taken + PIECE_BYTES - this.size);
            this.piece.set(some, this.size);
            this.size += some.length;
            taken += some.length;
            if (this.size === PIECE_BYTES)
                await this.flush();
        }
    }
    /** Writes the last piece. */
    async flush() {
        if (this.size === 0)
            return;
        await this.kept.write(this.sha256, this.start, this.piece.slice(0, this.size), '');
        this.start += this.size;
        this.size = 0;
    }
}
/** Bytes in memory. */
export class BytesInMemory {
    bytes;
    constructor(bytes) {
        this.bytes = new Uint8Array(bytes);
    }
    get sizeBytes() {
        return this.bytes.length;
    }
    read(offset, into) {
        into.set(this.bytes.subarray(offset, offset + into.length));
        return Promise.resolve();
    }
}
/** The bytes of a file, piece by piece. */
export async function* piecesOf(file, signal) {
    for (let offset = 0; offset < file.sizeBytes; offset += PIECE_BYTES) {
        if (signal?.aborted === true)
            throw new ModelError('cancelled', 'the update was cancelled');
        const piece = new Uint8Array(Math.min(PIECE_BYTES, file.sizeBytes - offset));
        await file.read(offset, piece);
        yield piece;
    }
}
