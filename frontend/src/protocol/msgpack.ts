// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * MessagePack for the types of our messages: the types of JSON, and bytes. This code is a fifth as long as
 * @msgpack/msgpack. A test compares the two. Format: https://github.com/msgpack/msgpack/blob/master/spec.md
 */

const utf8Decoder = new TextDecoder();
/**
 * Maximum length of a text that is decoded without a TextDecoder, bytes. A call of a TextDecoder takes a microsecond.
 */
const shortText = 24;

function textOf(bytes: Uint8Array): string {
  if (bytes.length > shortText) return utf8Decoder.decode(bytes);
  let found = '';
  for (const byte of bytes) {
    if (byte > 127) return utf8Decoder.decode(bytes);
    found += String.fromCharCode(byte);
  }
  return found;
}

class Reader {
  #at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get ended(): boolean {
    return this.#at === this.#bytes.byteLength;
  }

  value(): unknown {
    const type = this.#uint(1);
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 15);
    if (type < 0xa0) return this.#list(type & 15);
    if (type < 0xc0) return textOf(this.#take(type & 31));
    if (type >= 0xe0) return type - 0x100;
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return type === 0xc3;
      case 0xca:
        return this.#number(4, (at) => this.#view.getFloat32(at));
      case 0xcb:
        return this.#number(8, (at) => this.#view.getFloat64(at));
      case 0xcf:
        return this.#number(8, (at) => Number(this.#view.getBigUint64(at)));
      case 0xd0:
        return this.#number(1, (at) => this.#view.getInt8(at));
      case 0xd1:
        return this.#number(2, (at) => this.#view.getInt16(at));
      case 0xd2:
        return this.#number(4, (at) => this.#view.getInt32(at));
      case 0xd3:
        return this.#number(8, (at) => Number(this.#view.getBigInt64(at)));
      default:
    }
    // The remaining types form groups. The types of a group differ in the width of their length or value: 1, 2 or 4
    // bytes.
    if (type >= 0xc4 && type <= 0xc6) return this.#take(this.#uint(1 << (type - 0xc4)));
    if (type >= 0xcc && type <= 0xce) return this.#uint(1 << (type - 0xcc));
    if (type >= 0xd9 && type <= 0xdb) return textOf(this.#take(this.#uint(1 << (type - 0xd9))));
    if (type >= 0xdc && type <= 0xdd) return this.#list(this.#uint(2 << (type - 0xdc)));
    if (type >= 0xde) return this.#map(this.#uint(2 << (type - 0xde)));
    throw new Error(`type ${type} is unknown`);
  }

  #number(size: number, read: (at: number) => number): number {
    const found = read(this.#at);
    this.#at += size;
    return found;
  }

  #uint(size: number): number {
    let found = 0;
    for (const byte of this.#take(size)) found = found * 256 + byte;
    return found;
  }

  #take(size: number): Uint8Array {
    const end = this.#at + size;
    if (end > this.#bytes.byteLength) throw new Error('the message is cut off');
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  #list(length: number): unknown[] {
    const found: unknown[] = [];
    for (let i = 0; i < length; i++) found.push(this.value());
    return found;
  }

  #map(length: number): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    for (let i = 0; i < length; i++) {
      const key = String(this.value());
      if (key === '__proto__') throw new Error('a key is __proto__');
      found[key] = this.value();
    }
    return found;
  }
}

/** Decode one message. Bytes are views of `bytes`. */
export function decode(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const found = reader.value();
  if (!reader.ended) throw new Error('bytes follow the message');
  return found;
}

/** Encode a message without bytes. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  const found: number[] = [];
  add(found, value);
  return Uint8Array.from(found);
}

const utf8 = new TextEncoder();

function add(to: number[], value: unknown): void {
  if (value === null || value === undefined) to.push(0xc0);
  else if (typeof value === 'boolean') to.push(value ? 0xc3 : 0xc2);
  else if (typeof value === 'number') addNumber(to, value);
  else if (typeof value === 'string') {
    const bytes = utf8.encode(value);
    addSize(to, 0xdb, bytes.length);
    for (const byte of bytes) to.push(byte);
  } else if (Array.isArray(value)) {
    addSize(to, 0xdd, value.length);
    for (const item of value) add(to, item);
  } else {
    const entries = Object.entries(value as object);
    addSize(to, 0xdf, entries.length);
    for (const [key, item] of entries) {
      add(to, key);
      add(to, item);
    }
  }
}

function addNumber(to: number[], value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < 0x80) {
    to.push(value);
    return;
  }
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  const whole = Number.isSafeInteger(value);
  if (whole) view.setBigInt64(0, BigInt(value));
  else view.setFloat64(0, value);
  to.push(whole ? 0xd3 : 0xcb, ...bytes);
}

function addSize(to: number[], type: number, size: number): void {
  to.push(type, size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255);
}
