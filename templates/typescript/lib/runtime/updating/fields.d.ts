/** Something is not as it should be; the message names it. */
export declare class FormError extends Error {
}
/** The members of an object. */
export declare class Fields {
    private readonly members;
    private readonly where;
    /** @throws FormError for what is no object */
    constructor(value: unknown, where: string);
    has(name: string): boolean;
    text(name: string): string;
    /** A SHA-256 in hexadecimal. */
    sha256(name: string): string;
    /** A name without a slash. */
    name(name: string): string;
    flag(name: string): boolean;
    /** A whole number from 0 on that a double has exactly. */
    whole(name: string): number;
    /** A whole number from 1 on. */
    counted(name: string): number;
    /** A number that is not negative. */
    amount(name: string): number;
    /** Milliseconds since 1970, of a time as in `2026-01-31T23:59:59Z`. */
    time(name: string): number;
    object(name: string): Fields;
    /** Null where the member is null or missing. */
    optional<Value>(name: string, read: (fields: Fields) => Value): Value | null;
    list<Value>(name: string, read: (fields: Fields) => Value): readonly Value[];
    texts(name: string): readonly string[];
    numbers(name: string): readonly number[];
    /** The members of an object whose names are not known before, in a map. */
    map<Value>(name: string, read: (fields: Fields, name: string) => Value): ReadonlyMap<string, Value>;
    private array;
    private matching;
    private member;
    private wrong;
}
/** Refuses a list in which a key is twice. */
export declare function distinct<Value>(values: readonly Value[], key: (value: Value) => string, what: string): readonly Value[];
