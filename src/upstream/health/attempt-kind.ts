import type { Outcome } from '../outcome.ts';
import type { AttemptKind } from './recent-outcomes.ts';

/** Statuses that are the node's doing, whatever it was asked. */
export const isNodeFault = (status: number): boolean =>
  status >= 500 || status === 401 || status === 403 || status === 404;

/**
 * What an attempt says about the node it was made at; null when it says nothing.
 * @param elapsedMs - null when the time it took speaks about the question and not about the node.
 */
export function attemptKindOf(outcome: Outcome, elapsedMs: number | null): AttemptKind | null {
  switch (outcome.kind) {
    case 'answer':
      return 'answered';
    case 'status':
      if (outcome.status === 429) return 'throttled';
      return isNodeFault(outcome.status) ? 'failed' : null;
    case 'garbage':
      return 'failed';
    case 'transport':
      return outcome.timedOut && elapsedMs === null ? null : 'failed';
    default:
      return null;
  }
}
