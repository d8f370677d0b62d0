// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Who has which line, and what an access changes: MESI, or MSI (write-invalidate without E).
 *
 * Caches never run full, so a line is lost to a write alone, and who got it last still has it: that one gives the
 * data. A line is either shared by all who have it or owned by one, so one mode per line and a bit per CPU say all.
 */

import {
  exclusive,
  hit,
  invalid,
  modified,
  nobody,
  type Protocol,
  readFetch,
  reads,
  readTransfer,
  shared,
  upgrade,
  writeFetch,
  writeTransfer,
} from './types.ts';

export class LineStates {
  readonly lines: number;
  readonly protocol: Protocol;
  /** Bit per CPU, 0 to 31 and 32 to 63. */
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** State of every copy that exists: shared, exclusive, modified; invalid: there is none. */
  readonly mode: Uint8Array;
  /** Who got the line last. */
  readonly holder: Uint8Array;
  /** Of the last access: who gave the data, and how many lost their copy. */
  from = nobody;
  lost = 0;
  private readonly alone: number;

  constructor(lines: number, protocol: Protocol) {
    this.lines = lines;
    this.protocol = protocol;
    this.low = new Int32Array(lines);
    this.high = new Int32Array(lines);
    this.mode = new Uint8Array(lines);
    this.holder = new Uint8Array(lines).fill(nobody);
    this.alone = protocol === 'MESI' ? exclusive : shared;
  }

  copy(): LineStates {
    const other = new LineStates(this.lines, this.protocol);
    other.low.set(this.low);
    other.high.set(this.high);
    other.mode.set(this.mode);
    other.holder.set(this.holder);
    return other;
  }

  has(cpu: number, line: number): boolean {
    const copies = cpu < 32 ? this.low[line]! : this.high[line]!;
    return (copies & (1 << (cpu & 31))) !== 0;
  }

  state(cpu: number, line: number): number {
    return this.has(cpu, line) ? this.mode[line]! : invalid;
  }

  /** Whether the access would need nobody else. */
  hits(cpu: number, line: number, kind: number): boolean {
    return this.has(cpu, line) && (kind === reads || this.mode[line]! !== shared);
  }

  /** Does one access and says what it was. */
  access(cpu: number, line: number, kind: number): number {
    this.from = nobody;
    this.lost = 0;
    const has = this.has(cpu, line);
    const mode = this.mode[line]!;
    if (kind === reads) {
      if (has) return hit;
      this.join(cpu, line);
      if (mode === invalid) {
        this.mode[line] = this.alone;
        return readFetch;
      }
      this.mode[line] = shared;
      return readTransfer;
    }
    this.mode[line] = modified;
    if (has && mode !== shared) return hit;
    const copies = bits(this.low[line]!) + bits(this.high[line]!);
    this.low[line] = 0;
    this.high[line] = 0;
    this.lost = has ? copies - 1 : copies;
    this.join(cpu, line);
    if (!has) return mode === invalid ? writeFetch : writeTransfer;
    this.from = nobody;
    return upgrade;
  }

  /** Gives a CPU a copy; the one who got it last has given it. */
  private join(cpu: number, line: number): void {
    if (cpu < 32) this.low[line] = this.low[line]! | (1 << cpu);
    else this.high[line] = this.high[line]! | (1 << (cpu & 31));
    this.from = this.holder[line]!;
    this.holder[line] = cpu;
  }
}

function bits(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
