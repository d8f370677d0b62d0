// SPDX-License-Identifier: GPL-2.0-or-later
/** A change in a link: {arm, diff} as JSON, deflated, in URL-safe base64. */

/** Maximum length of a link, in characters. Mail programs and chats cut off longer links. */
export const linkChars = 6_000;
/** Maximum size of an unpacked link, in bytes. This page makes no larger links. */
const unpackedBytes = 200_000;

export interface Change {
  readonly arm: string;
  readonly diff: string;
}

const prefix = '#change=';

/** Whether an address contains a change. The part after `#` is never sent to a server. */
export function bringsChange(hash: string): boolean {
  return hash.startsWith(prefix);
}

/** The part of the address from `#` on; null if it would be too long. */
export async function packChange(change: Change): Promise<string | null> {
  const { arm, diff } = change;
  const bytes = new TextEncoder().encode(JSON.stringify({ arm, diff }));
  const packed = await readAll(piped(bytes, new CompressionStream('deflate-raw')), unpackedBytes);
  const text = btoa(String.fromCharCode(...packed));
  if (text.length + prefix.length > linkChars) return null;
  return prefix + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The change in the part of the address after `#`; null if this part is not a valid change. */
export async function unpackChange(hash: string): Promise<Change | null> {
  if (!bringsChange(hash) || hash.length > 2 * linkChars) return null;
  try {
    const text = hash.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const json = await readAll(piped(bytes, new DecompressionStream('deflate-raw')), unpackedBytes);
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
    if (typeof value !== 'object' || value === null) return null;
    const { arm, diff } = value as Partial<Change>;
    return typeof arm === 'string' && typeof diff === 'string' ? { arm, diff } : null;
  } catch {
    return null;
  }
}

function piped(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream().pipeThrough(through);
}

async function readAll(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let n = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    n += value.length;
    if (n > most) {
      await reader.cancel();
      throw new Error('longer than any change');
    }
    parts.push(value);
  }
  const all = new Uint8Array(n);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
