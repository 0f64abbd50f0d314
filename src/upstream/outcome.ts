import type { RpcResponse } from '../protocol/call.ts';
import { type Slot, slot, U64_MAX } from '../solana/units.ts';

/** Preflight errors that affect retries. `Outcome.preflight` is null for all others. */
export type PreflightFault = 'blockhash-not-found' | 'already-processed';

/**
 * Result of one attempt at one node.
 * - `response`: a JSON-RPC result or error.
 * - `status`: an HTTP error; a JSON-RPC throttling error counts as 429.
 * - `invalid`: HTTP 200 without a matching JSON-RPC response.
 * - `withheld`: an error that contains the node's host or a key.
 * - `too-large`, `over-budget`: the response exceeds the size limit or the remaining memory budget.
 * - `transport`: no response; `wasSent` is true if the node may have read the request.
 * - `aborted`: the caller canceled.
 */
export type Outcome = Readonly<
  | { kind: 'response'; response: RpcResponse; preflight: PreflightFault | null }
  | { kind: 'status'; status: number; retryAfterMs: number | null }
  | { kind: 'invalid' }
  | { kind: 'withheld' }
  | { kind: 'too-large' }
  | { kind: 'over-budget' }
  | { kind: 'transport'; wasSent: boolean; timedOut: boolean }
  | { kind: 'aborted'; wasSent: boolean }
>;

const SLOT_TEXT = /^\d{1,20}$/;

/** Slot in the response to getSlot or a similar method; null for any other outcome. */
export function slotIn(outcome: Outcome): Slot | null {
  if (outcome.kind !== 'response' || outcome.response.errorCode !== 0) return null;
  const text = outcome.response.body.toString('latin1');
  if (!SLOT_TEXT.test(text)) return null;
  const value = BigInt(text);
  return value > U64_MAX ? null : slot(value);
}

export const isThrottling = (outcome: Outcome): boolean =>
  outcome.kind === 'status' && outcome.status === 429;

export const jsonRpcErrorText = (code: number): string => `JSON-RPC error ${code}`;

/** Describes an outcome without any text that a node sent. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'response':
      return outcome.response.errorCode === 0 ? 'ok' : jsonRpcErrorText(outcome.response.errorCode);
    case 'status':
      return `HTTP status ${outcome.status}`;
    case 'invalid':
      return 'invalid JSON-RPC response';
    case 'withheld':
      return 'error withheld: contains a key or the host of the node';
    case 'over-budget':
      return 'response memory budget exhausted';
    case 'too-large':
      return 'response too large';
    case 'aborted':
      return 'canceled by the caller';
    case 'transport':
      if (!outcome.wasSent) return outcome.timedOut ? 'connect timeout' : 'no connection';
      return outcome.timedOut ? 'response timeout' : 'connection lost';
  }
}
