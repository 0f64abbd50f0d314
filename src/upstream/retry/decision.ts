import { type MethodKind, methodTraits } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { Outcome } from '../outcome.ts';

/**
 * - `retry`: try another node; a node that did not respond may be tried again later.
 * - `confirm`: try one more node, then return the most informative response.
 * - `retry-elsewhere`: try other nodes, but never the same node again.
 *
 * Source: solana-json-rpc.md §1.6.
 */
export type RetryDecision = 'return' | 'retry' | 'confirm' | 'retry-elsewhere' | 'fail';

/**
 * Whether the node rejected the request as invalid or too large, rather than failing to serve it; another node may
 * have larger limits.
 */
const rejectsRequest = ({ status }: Extract<Outcome, { kind: 'status' }>): boolean =>
  status === 400 || status === 413;

/** null unless every node rejected the request as invalid or too large. */
export function rejectionCodeOf(outcomes: readonly Outcome[]): 'BODY_TOO_LARGE' | 'INVALID_REQUEST' | null {
  const isRejected = (outcome: Outcome): boolean => outcome.kind === 'status' && rejectsRequest(outcome);
  if (outcomes.length === 0 || !outcomes.every(isRejected)) return null;
  const tooLarge = outcomes.some((outcome) => outcome.kind === 'status' && outcome.status === 413);
  return tooLarge ? 'BODY_TOO_LARGE' : 'INVALID_REQUEST';
}

export const isConnectFailure = (outcome: Outcome): boolean =>
  outcome.kind === 'transport' && !outcome.wasSent && !outcome.timedOut;

function decideForResponse(kind: MethodKind, outcome: Extract<Outcome, { kind: 'response' }>): RetryDecision {
  if (outcome.response.errorCode === 0) return 'return';
  const { rule, didNothing } = nodeErrorRow(outcome.response.errorCode);
  if (methodTraits[kind].singleNode && !didNothing) return 'return';
  if (rule === 'retry' || rule === 'confirm') return rule;
  return outcome.preflight === 'blockhash-not-found' ? 'confirm' : 'return';
}

export function decideRetry(kind: MethodKind, outcome: Outcome): RetryDecision {
  switch (outcome.kind) {
    case 'response':
      return decideForResponse(kind, outcome);
    case 'aborted':
    case 'over-budget':
      return 'fail';
    case 'too-large':
      // A light read rarely has a response this large, so a single node is not trusted. No other call is repeated.
      return methodTraits[kind].hedged ? 'retry-elsewhere' : 'fail';
    case 'transport':
      return outcome.wasSent && methodTraits[kind].singleNode ? 'fail' : 'retry';
    case 'status':
      if (methodTraits[kind].singleNode) return 'fail';
      return rejectsRequest(outcome) ? 'retry-elsewhere' : 'retry';
    case 'invalid':
    case 'withheld':
      return methodTraits[kind].singleNode ? 'fail' : 'retry';
  }
}

/** Whether the node may have executed the call although it returned no result. */
export function isAmbiguous(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'response':
      return nodeErrorRow(outcome.response.errorCode).mayHaveActed;
    case 'status':
      return outcome.status >= 500;
    case 'invalid':
    case 'withheld':
    case 'too-large':
    case 'over-budget':
      return true;
    case 'transport':
    case 'aborted':
      return outcome.wasSent;
  }
}
