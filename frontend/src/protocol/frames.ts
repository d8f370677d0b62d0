// SPDX-License-Identifier: GPL-2.0-or-later
/** Messages of a segment or of a part of a site: u32 length, little endian, then the message. Written by stream/packing.py. */

/** The messages, in place. */
export function frames(bytes: ArrayBuffer): Uint8Array<ArrayBuffer>[] {
  const view = new DataView(bytes);
  const found: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const end = at + 4 + (at + 4 <= bytes.byteLength ? view.getUint32(at, true) : 0);
    if (at + 4 > bytes.byteLength || end > bytes.byteLength)
      throw new Error('a part of this page is cut off');
    found.push(new Uint8Array(bytes, at + 4, end - at - 4));
    at = end;
  }
  return found;
}
