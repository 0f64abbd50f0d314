import type { RpcResponse } from '../protocol/call.ts';

/** What a preflight said that decides about a second try; null for everything else. */
export type PreflightFault = 'blockhash-not-found' | 'already-processed';

/** How one attempt at one node ended. */
export type Outcome = Readonly<
  /** A JSON-RPC answer, be it a result or an error. */
  | { kind: 'answer'; response: RpcResponse; preflight: PreflightFault | null }
  /** HTTP said no; the body is nobody's business. `restMs`: how long the node wants to be left alone. */
  | { kind: 'status'; status: number; retryAfterMs: number | null }
  /** HTTP 200, but no answer to our request. */
  | { kind: 'garbage' }
  /** An error whose text names the node's host or a key of ours: the caller may not see it. */
  | { kind: 'withheld' }
  /** Longer than we pass on. Another node would send the same, unless this one does not tell the truth. */
  | { kind: 'too-large' }
  /** There was no room for it beside the answers that are held already. Another node's would find none either. */
  | { kind: 'no-room' }
  /** No answer. `bytesLeft`: whether the node may have read the request. */
  | { kind: 'transport'; wasSent: boolean; timedOut: boolean }
  /** The caller went away. */
  | { kind: 'aborted'; wasSent: boolean }
>;

/** A few words about an outcome for logs. Holds nothing that a node sent. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'answer':
      return outcome.response.errorCode === 0 ? 'answered' : `JSON-RPC error ${outcome.response.errorCode}`;
    case 'status':
      return `HTTP status ${outcome.status}`;
    case 'garbage':
      return 'no JSON-RPC answer to our request';
    case 'withheld':
      return 'an error that shows a key or the host of the node';
    case 'no-room':
      return 'no room for the answer';
    case 'too-large':
      return 'answer too large';
    case 'aborted':
      return 'given up by the caller';
    case 'transport':
      if (!outcome.wasSent) return outcome.timedOut ? 'no connection in time' : 'no connection';
      return outcome.timedOut ? 'no answer in time' : 'connection lost';
  }
}
