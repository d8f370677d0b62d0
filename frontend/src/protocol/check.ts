// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Building blocks for the generated checks in contract.checks.gen.ts. They are plain functions, because the page's
 * Content-Security-Policy forbids compiling strings. Each function that reads a value returns a checked copy, with
 * defaults filled in and unknown keys removed. If the value is invalid, the function throws a Mismatch.
 */

export type Key = string | number;
export type Read<T> = (value: unknown, key: Key) => T;
export type Fields = Readonly<Record<string, unknown>>;

/** Thrown if a value violates the contract. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  /** The keys that lead to the invalid value, outermost first. */
  readonly path: Key[];

  constructor(message: string, key: Key) {
    super(message);
    this.path = [key];
  }
}

/** Describe an invalid value for an error message. */
function received(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? 'NaN' : 'Infinity';
  if (typeof value !== 'object') return typeof value;
  const made = Object.getPrototypeOf(value)?.constructor as { name?: string } | undefined;
  return made === undefined || made === Object ? 'object' : (made.name ?? 'object');
}

function wrong(expected: string, value: unknown, key: Key): Mismatch {
  return new Mismatch(`Invalid input: expected ${expected}, received ${received(value)}`, key);
}

function within(cause: unknown, key: Key): unknown {
  if (cause instanceof Mismatch) cause.path.unshift(key);
  return cause;
}

export const anything: Read<unknown> = (value) => value;

export const string: Read<string> = (value, key) => {
  if (typeof value !== 'string') throw wrong('string', value, key);
  return value;
};

export const boolean: Read<boolean> = (value, key) => {
  if (typeof value !== 'boolean') throw wrong('boolean', value, key);
  return value;
};

/** Reads a finite number. */
export const number: Read<number> = (value, key) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('number', value, key);
  return value;
};

export const integer: Read<number> = (value, key) => {
  if (!Number.isInteger(value)) throw wrong(Number.isFinite(value) ? 'int' : 'number', value, key);
  return value as number;
};

export const nothing: Read<null> = (value, key) => {
  if (value !== null) throw wrong('null', value, key);
  return value;
};

export const bytes: Read<Uint8Array> = (value, key) => {
  if (!(value instanceof Uint8Array)) throw wrong('Uint8Array', value, key);
  return value;
};

export function literal<const T extends string>(wanted: T): Read<T> {
  return (value, key) => {
    if (value !== wanted) throw new Mismatch(`Invalid input: expected "${wanted}"`, key);
    return wanted;
  };
}

export function oneOf<const T extends string>(...options: readonly T[]): Read<T> {
  const known = new Set<unknown>(options);
  return (value, key) => {
    if (known.has(value)) return value as T;
    const listed = options.map((option) => `"${option}"`).join('|');
    throw new Mismatch(`Invalid option: expected one of ${listed}`, key);
  };
}

export function maybe<T>(read: Read<T>): Read<T | null> {
  return (value, key) => (value === null ? null : read(value, key));
}

export function either<A, B>(one: Read<A>, other: Read<B>): Read<A | B> {
  return (value, key) => {
    try {
      return one(value, key);
    } catch {
      return other(value, key);
    }
  };
}

export function atLeast(read: Read<number>, least: number): Read<number> {
  return (value, key) => {
    const found = read(value, key);
    if (found < least) throw new Mismatch(`Too small: expected number to be >=${least}`, key);
    return found;
  };
}

export function above(read: Read<number>, bound: number): Read<number> {
  return (value, key) => {
    const found = read(value, key);
    if (found <= bound) throw new Mismatch(`Too small: expected number to be >${bound}`, key);
    return found;
  };
}

export function list<T>(read: Read<T>, least = 0): Read<T[]> {
  return (value, key) => {
    if (!Array.isArray(value)) throw wrong('array', value, key);
    if (value.length < least)
      throw new Mismatch(`Too small: expected array to have >=${least} items`, key);
    try {
      return value.map(read);
    } catch (cause) {
      throw within(cause, key);
    }
  };
}

export function pair<A, B>(one: Read<A>, other: Read<B>): Read<[A, B]> {
  return (value, key) => {
    if (!Array.isArray(value) || value.length !== 2) throw wrong('tuple', value, key);
    try {
      return [one(value[0], 0), other(value[1], 1)];
    } catch (cause) {
      throw within(cause, key);
    }
  };
}

function fieldsOf(value: unknown, key: Key, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(what, value, key);
  return value as Fields;
}

/** Reads an object with arbitrary keys. */
export function map<T>(read: Read<T>): Read<Record<string, T>> {
  return (value, key) => {
    const fields = fieldsOf(value, key, 'record');
    // A typed array is also an object, but it is not a record.
    const from: unknown = Object.getPrototypeOf(fields);
    if (from !== Object.prototype && from !== null) throw wrong('record', value, key);
    const result: Record<string, T> = {};
    try {
      for (const name of Object.keys(fields)) {
        if (name !== '__proto__') result[name] = read(fields[name], name);
      }
    } catch (cause) {
      throw within(cause, key);
    }
    return result;
  };
}

/** Reads an object. `name` checks each key, and `read` checks each value. */
export function partial<K extends string, T>(
  name: Read<K>,
  read: Read<T>,
): Read<Partial<Record<K, T>>> {
  const named = map(read);
  return (value, key) => {
    const result = named(value, key);
    try {
      for (const one of Object.keys(result)) name(one, one);
    } catch (cause) {
      throw within(cause, key);
    }
    return result as Partial<Record<K, T>>;
  };
}

/** Reads an object with known fields; `read` reads each field. */
export function shape<T>(read: (fields: Fields) => T): Read<T> {
  return (value, key) => {
    const fields = fieldsOf(value, key, 'object');
    try {
      return read(fields);
    } catch (cause) {
      throw within(cause, key);
    }
  };
}

/** Reads an optional field; `otherwise` is its default. */
export function or<T>(value: unknown, key: Key, read: Read<T>, otherwise: NoInfer<T>): T {
  return value === undefined ? otherwise : read(value, key);
}

/** Reads a union of shapes; the field `type` selects the shape. */
export function tagged<T>(readers: Readonly<Record<string, Read<T>>>): Read<T> {
  const known = new Map(Object.entries(readers));
  return (value, key) => {
    const { type } = fieldsOf(value, key, 'object');
    const read = known.get(type as string);
    if (read === undefined) {
      const tags = [...known.keys()].map((tag) => `'${tag}'`).join(' | ');
      const sentence = `Invalid discriminator value. Expected ${tags}`;
      throw within(new Mismatch(sentence, 'type'), key);
    }
    return read(value, key);
  };
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      /** Path to the invalid value, with dots between the keys; empty if the top-level value is invalid. */
      readonly place: string;
      readonly complaint: string;
    };

/** Check a value against the contract. Only this function is called from outside the checks. */
export function check<T>(read: Read<T>, value: unknown): Checked<T> {
  try {
    return { ok: true, value: read(value, '') };
  } catch (cause) {
    if (!(cause instanceof Mismatch)) throw cause;
    return { ok: false, place: cause.path.slice(1).join('.'), complaint: cause.message };
  }
}
