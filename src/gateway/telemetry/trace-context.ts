import { randomBytes } from 'node:crypto';
import type { TraceLink } from '../../protocol/request-trace.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Reads a traceparent header. Source: W3C Trace Context, 3.2: versions above 00 may have more behind; ids of zeros are
 * none.
 * @returns null when it is none; `sampled`: whoever asked keeps its part of the trace.
 */
export function readTraceparent(header: string): (TraceLink & Readonly<{ sampled: boolean }>) | null {
  const match = header.length > 256 ? null : TRACEPARENT.exec(header);
  if (match === null) return null;
  const [, traceId, parentId, flags, rest] = match as unknown as [string, string, string, string, string?];
  if (header.startsWith('00') && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** A share of traces as a bound for the last 48 bits of their ids, which are chance. */
const boundOf = (share: number): number => share * 2 ** 48;

/**
 * Decides which requests tell spans: of traces that begin here that share; of a client's, those that the client keeps,
 * and of those the same share, by the trace's id, so that whoever samples by it keeps the same ones.
 */
export class TraceSampler {
  readonly #share: number;

  /** @param share - 0 to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** @param traceparent - as the client sent it; null for none. @returns null for a request that tells none. */
  linkOf(traceparent: string | null): TraceLink | null {
    const given = traceparent === null ? null : readTraceparent(traceparent);
    if (given === null) {
      return Math.random() < this.#share
        ? { traceId: randomBytes(16).toString('hex'), parentId: null }
        : null;
    }
    if (!given.sampled || Number.parseInt(given.traceId.slice(-12), 16) >= boundOf(this.#share)) return null;
    return { traceId: given.traceId, parentId: given.parentId };
  }
}
