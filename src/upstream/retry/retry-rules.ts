import { type MethodKind, methodTraits } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { Outcome } from '../outcome.ts';

/**
 * Which outcome is worth another node. Pure. Source: reference solana-json-rpc.md §1.6; the tables are
 * those of protocol/methods.ts (natures) and protocol/node-errors.ts.
 */

/**
 * - `answer`: give it to the caller.
 * - `hop`: ask another node.
 * - `hop-once`: ask one other node, then believe what two have said.
 * - `hop-away`: ask other nodes, and this one not again.
 * - `fail`: no answer, and no other node may be asked.
 */
export type RetryDecision = 'answer' | 'hop' | 'hop-once' | 'hop-away' | 'fail';

/** A node that says no to the request as such will say so again; another one may have larger limits. */
const refusesRequest = ({ status }: Extract<Outcome, { kind: 'status' }>): boolean =>
  status === 400 || status === 413;

/** How the caller is told, when no node had anything better to say; null when it is not the request's fault. */
export function refusalOf(outcomes: readonly Outcome[]): 'BODY_TOO_LARGE' | 'INVALID_REQUEST' | null {
  const refused = (outcome: Outcome): boolean => outcome.kind === 'status' && refusesRequest(outcome);
  if (outcomes.length === 0 || !outcomes.every(refused)) return null;
  const tooLarge = outcomes.some((outcome) => outcome.kind === 'status' && outcome.status === 413);
  return tooLarge ? 'BODY_TOO_LARGE' : 'INVALID_REQUEST';
}

/** Whether no connection came about, so that nothing was sent. */
export const isConnectionRefused = (outcome: Outcome): boolean =>
  outcome.kind === 'transport' && !outcome.wasSent && !outcome.timedOut;

function decideForResponse(kind: MethodKind, outcome: Extract<Outcome, { kind: 'answer' }>): RetryDecision {
  if (outcome.response.errorCode === 0) return 'answer';
  const { rule, didNothing } = nodeErrorRow(outcome.response.errorCode);
  if (methodTraits[kind].oneNode && !didNothing) return 'answer';
  if (rule === 'hop' || rule === 'hop-once') return rule;
  return outcome.preflight === 'blockhash-not-found' ? 'hop-once' : 'answer';
}

/** What to do after an attempt for a method of this nature. */
export function decideRetry(kind: MethodKind, outcome: Outcome): RetryDecision {
  switch (outcome.kind) {
    case 'answer':
      return decideForResponse(kind, outcome);
    case 'aborted':
    case 'no-room':
      return 'fail';
    case 'too-large':
      // A light read is seldom answered at such length: one node's word is not enough. Heavy work is not done twice.
      return methodTraits[kind].hedged ? 'hop-away' : 'fail';
    case 'transport':
      return outcome.wasSent && methodTraits[kind].oneNode ? 'fail' : 'hop';
    case 'status':
      if (methodTraits[kind].oneNode) return 'fail';
      return refusesRequest(outcome) ? 'hop-away' : 'hop';
    case 'garbage':
    case 'withheld':
      return methodTraits[kind].oneNode ? 'fail' : 'hop';
  }
}

/** Whether the node may have acted on the request without our learning of it. */
export function isAmbiguous(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answer':
      return nodeErrorRow(outcome.response.errorCode).mayHaveActed;
    case 'status':
      return outcome.status >= 500;
    case 'garbage':
    case 'withheld':
    case 'too-large':
    case 'no-room':
      return true;
    case 'transport':
    case 'aborted':
      return outcome.wasSent;
  }
}
