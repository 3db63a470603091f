// Reads JSON whose form is known: what is missing or of another type is refused, what is unknown is passed over.

/** Something is not as it should be; the message names it. */
export class FormError extends Error {}

const SHA256 = /^[0-9a-f]{64}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The members of an object. */
export class Fields {
  private readonly members: Readonly<Record<string, unknown>>;
  private readonly where: string;

  /** @throws FormError for what is no object */
  constructor(value: unknown, where: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new FormError(`${where} is no object`);
    this.members = value as Readonly<Record<string, unknown>>;
    this.where = where;
  }

  has(name: string): boolean {
    return this.member(name) !== undefined;
  }

  text(name: string): string {
    const value = this.member(name);
    if (typeof value !== 'string') throw this.wrong(name, 'text');
    return value;
  }

  /** A SHA-256 in hexadecimal. */
  sha256(name: string): string {
    return this.matching(name, SHA256, 'sha256');
  }

  /** A name without a slash. */
  name(name: string): string {
    return this.matching(name, NAME, 'name');
  }

  flag(name: string): boolean {
    const value = this.member(name);
    if (typeof value !== 'boolean') throw this.wrong(name, 'boolean');
    return value;
  }

  /** A whole number from 0 on that a double has exactly. */
  whole(name: string): number {
    const value = this.member(name);
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.wrong(name, 'whole number');
    return value as number;
  }

  /** A whole number from 1 on. */
  counted(name: string): number {
    const value = this.whole(name);
    if (value === 0) throw this.wrong(name, 'number from 1 on');
    return value;
  }

  /** A number that is not negative. */
  amount(name: string): number {
    const value = this.member(name);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw this.wrong(name, 'number');
    return value;
  }

  /** Milliseconds since 1970, of a time as in `2026-01-31T23:59:59Z`. */
  time(name: string): number {
    const text = this.matching(name, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'time');
    const time = Date.parse(text);
    // A day that no month has would be one of the next month.
    const isTime = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, -1));
    if (!isTime) throw this.wrong(name, 'time');
    return time;
  }

  object(name: string): Fields {
    return new Fields(this.member(name), `${this.where}.${name}`);
  }

  /** Null where the member is null or missing. */
  optional<Value>(name: string, read: (fields: Fields) => Value): Value | null {
    const value = this.member(name) ?? null;
    return value === null ? null : read(this.object(name));
  }

  list<Value>(name: string, read: (fields: Fields) => Value): readonly Value[] {
    return this.array(name).map((each, index) => read(new Fields(each, `${this.where}.${name}[${String(index)}]`)));
  }

  texts(name: string): readonly string[] {
    return this.array(name).map((each) => {
      if (typeof each !== 'string') throw this.wrong(name, 'list of texts');
      return each;
    });
  }

  numbers(name: string): readonly number[] {
    return this.array(name).map((each) => {
      if (typeof each !== 'number') throw this.wrong(name, 'list of numbers');
      return each;
    });
  }

  /** The members of an object whose names are not known before, in a map. */
  map<Value>(name: string, read: (fields: Fields, name: string) => Value): ReadonlyMap<string, Value> {
    const fields = this.object(name);
    return new Map(Object.keys(fields.members).map((key) => [key, read(fields, key)]));
  }

  private array(name: string): readonly unknown[] {
    const value = this.member(name);
    if (!Array.isArray(value)) throw this.wrong(name, 'list');
    return value;
  }

  private matching(name: string, pattern: RegExp, kind: string): string {
    const text = this.text(name);
    if (!pattern.test(text)) throw this.wrong(name, kind);
    return text;
  }

  private member(name: string): unknown {
    return Object.prototype.hasOwnProperty.call(this.members, name) ? this.members[name] : undefined;
  }

  private wrong(name: string, kind: string): FormError {
    return new FormError(`${this.where}.${name} is no ${kind}`);
  }
}

/** Refuses a list in which a key is twice. */
export function distinct<Value>(values: readonly Value[], key: (value: Value) => string, what: string): readonly Value[] {
  if (new Set(values.map(key)).size < values.length) throw new FormError(`a ${what} is there twice`);
  return values;
}
