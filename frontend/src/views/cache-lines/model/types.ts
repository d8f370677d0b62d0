// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * The coherence model's words. What CPUs access is *counted*; how their accesses meet, and all that follows from it
 * (states, transfers, rates), is *modelled*. model.py in backend/src/duet/lenses/scope does the same, step by step.
 */

/** What an access does to its line; the plugin's numbers. */
export const reads = 0;
export const writes = 1;
export const modifies = 2;

/** A CPU's copy of a line. E is never reached under MSI. */
export const invalid = 0;
export const shared = 1;
export const exclusive = 2;
export const modified = 3;
export const stateNames = ['I', 'S', 'E', 'M'] as const;

/** What an access costs the others: nothing, or one of five. */
export const hit = 0;
/** Read, and nobody has the line: from memory. */
export const readFetch = 1;
/** Read, and the data come from a CPU. */
export const readTransfer = 2;
/** Write to a shared copy: the others lose theirs, no data travel. */
export const upgrade = 3;
/** Write, and nobody has the line: from memory. */
export const writeFetch = 4;
/** Write, and the data come from a CPU, and all others lose theirs (a read for ownership). */
export const writeTransfer = 5;
export const eventNames = [
  'hit',
  'read from memory',
  'read transfer',
  'upgrade',
  'write from memory',
  'write transfer',
] as const;

/** `from` of an access for which no CPU gave data. */
export const nobody = 255;

export const mostCpus = 64;

/** One CPU's accesses in its program's order. */
export interface AccessStream {
  /** Index of the line, from 0. */
  readonly line: Uint8Array;
  /** reads, writes or modifies. */
  readonly kind: Uint8Array;
  /** Number of the operation, rising; 0: outside of any. */
  readonly op: Uint32Array;
  /** Which share of an operation's private work (Latencies.ownNs) lies before the access. */
  readonly work: Float64Array;
  /** Which part of the profile it belongs to (profile.ts), from 1; 0: none. */
  readonly part: Uint8Array;
}

/** All CPUs' accesses in one order. */
export interface MergedLog {
  readonly cpus: number;
  readonly lines: number;
  readonly length: number;
  readonly cpu: Uint8Array;
  /** Which access of that CPU's stream. */
  readonly index: Uint32Array;
  readonly line: Uint8Array;
  readonly kind: Uint8Array;
  /** Operations that were completed within the log. */
  readonly ops: number;
  /** When the last access was done, modelled ns; null where the order knows no time (random, as executed). */
  readonly endNs: number | null;
  /** Where time goes; null where the order knows none. */
  readonly spent: Spent | null;
}

/** Modelled time of the accesses that are over. */
export interface Spent {
  /** Per access of the order, ns: from when it is due until it is done, its wait for the line included. */
  readonly accessNs: Float64Array;
  /** Private work before those accesses, of all together, ns. */
  readonly ownNs: number;
}

export type Protocol = 'MESI' | 'MSI';
export type Schedule = 'random' | 'timed';

/** The stated prices, ns. */
export interface Latencies {
  /** An access to a line that the CPU has. */
  readonly hitNs: number;
  /** Data of a line from CPU to CPU (from memory, once per line, costs the same). */
  readonly transferNs: number;
  /** A shared copy becomes the only one. */
  readonly upgradeNs: number;
  /** Work of a whole operation that needs none of these lines; AccessStream.work says where in it. */
  readonly ownNs: number;
}

export interface Settings {
  readonly protocol: Protocol;
  readonly schedule: Schedule;
  readonly latencies: Latencies;
  /** Private work varies by this share up and down, evenly; so copies of one stream do not march in step. */
  readonly jitter: number;
  /** Share of a transfer's time after which its request has reached those who have the line. */
  readonly handover: number;
}

export interface Totals {
  readonly accesses: number;
  readonly ops: number;
  readonly hits: number;
  readonly fetches: number;
  readonly readTransfers: number;
  readonly writeTransfers: number;
  /** Data from CPU to CPU: readTransfers + writeTransfers. */
  readonly transfers: number;
  readonly upgrades: number;
  /** Copies lost to somebody's write. */
  readonly invalidations: number;
  /** All that is not a hit. */
  readonly busEvents: number;
}

/**
 * Where the order ends: `last`, when every stream is used up; `first`, when one is, so that all CPUs are at work all
 * the time and a rate may be read off.
 */
export type Until = 'first' | 'last';
