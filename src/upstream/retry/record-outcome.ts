import { certainCommitment } from '../cache/call-key.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { leadingContextSlot } from '../slots/context-slot.ts';
import type { RetryState } from './retry-state.ts';

/** The slots of answers are read this often, of one node: more often they tell nothing. */
const SLOTS_READ_EVERY_MS = 100;

/** Reads from an answer how far its node is, unless that is known. */
function recordSlot(state: RetryState, node: UpstreamNode, result: Buffer): void {
  const now = performance.now();
  if (now - node.slotsReadAt < SLOTS_READ_EVERY_MS) return;
  node.slotsReadAt = now;
  const slot = leadingContextSlot(result);
  if (slot === null) return;
  // Everybody is told of it: what a caller writes in a way of its own must not pass for another commitment.
  const commitment = certainCommitment(state.call);
  if (commitment === null) return;
  node.slots.observe(commitment, slot, now);
  state.group.onSlotsObserved(now);
}

/** Takes in what an attempt says of its node. */
export function recordOutcome(
  state: RetryState,
  node: UpstreamNode,
  outcome: Outcome,
  elapsedMs: number,
): void {
  const { traits, call } = state;
  node.recordOutcome(outcome, traits.takesAllTheTime ? null : elapsedMs);
  if (outcome.kind !== 'answer' || outcome.response.errorCode !== 0) return;
  if (traits.hedged) node.latencies.record(call.row, elapsedMs);
  if (call.row.context) recordSlot(state, node, outcome.response.body);
}

function traceAttempt(state: RetryState, node: UpstreamNode, elapsedMs: number, outcome: string): void {
  const endedAt = performance.now();
  state.call.trace?.onAttempt({ node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome });
}

/** Tells whoever follows the call how an attempt ended. */
export function reportAttempt(
  state: RetryState,
  node: UpstreamNode,
  outcome: Outcome,
  elapsedMs: number,
): void {
  if (state.call.trace == null) return;
  const isGood = outcome.kind === 'answer' && outcome.response.errorCode === 0;
  traceAttempt(state, node, elapsedMs, isGood ? 'ok' : outcomeText(outcome));
}

/** The same of one that was given up because another was done first: it is no failure of its node. */
export function reportSuperseded(state: RetryState, node: UpstreamNode, elapsedMs: number): void {
  node.recordSuperseded(state.call.row, elapsedMs);
  if (state.call.trace != null) traceAttempt(state, node, elapsedMs, 'given up: another node was first');
}
