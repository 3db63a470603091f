import { ModelUntrustedError } from '../trust.js';
import type { Delivery } from './delivery.js';
/** A role: whose signatures it needs, and of which targets it speaks where another role delegates to it. */
export interface Role {
    readonly name: string;
    readonly keyids: readonly string[];
    readonly threshold: number;
    readonly isTerminating: boolean;
    /** Patterns of paths, as shells have them. */
    readonly paths: readonly string[];
    /** Beginnings of the SHA-256 of paths. */
    readonly prefixes: readonly string[];
}
/** Facts of a file that metadata states; null where it does not. */
export interface Vouched {
    readonly sizeBytes: number | null;
    /** In hexadecimal. */
    readonly sha256: string | null;
}
/** Metadata of a role in another one. */
export interface Versioned extends Vouched {
    readonly version: number;
}
/** A target, which is no metadata. */
export interface Target extends Vouched {
    readonly sizeBytes: number;
    readonly sha256: string;
}
/** Metadata of a role, which was verified: what its kind does not have is empty. */
export interface Metadata {
    /** Name of the role. */
    readonly name: string;
    readonly text: string;
    readonly version: number;
    /** Milliseconds since 1970. */
    readonly expires: number;
    /** Milliseconds since 1970; 0 where it does not say. */
    readonly published: number;
    /** By their ids: SubjectPublicKeyInfo of P-256 in Base64, one form for each key; empty for other keys. */
    readonly keys: ReadonlyMap<string, string>;
    readonly roles: ReadonlyMap<string, Role>;
    /** Metadata of other roles, by the names of their files. */
    readonly meta: ReadonlyMap<string, Versioned>;
    /** Null where there is none of that path. */
    readonly target: (path: string) => Target | null;
}
/**
 * The metadata of the role `name`, that `delegators` have vouched for; root metadata vouches for itself, too.
 *
 * @throws ModelUntrustedError `wrong-signature`, or `swapped` for metadata of another package or channel
 */
export declare function verified(text: string, name: string, delegators: readonly Metadata[], delivery: Delivery): Promise<Metadata>;
/** Words for metadata that is not believed. */
export declare function wrong(name: string, reason: string, cause?: unknown): ModelUntrustedError;
/** Gives the result of `read`; its error says that the metadata is not believed. */
export declare function understood<Value>(name: string, read: () => Value): Value;
/** Canonical JSON, as OLPC has described it: what is signed. */
export declare function canonical(value: unknown, depth?: number): string;
