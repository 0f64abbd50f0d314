import { certainCommitment } from '../cache/call-key.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { leadingContextSlot } from '../slots/context-slot.ts';
import type { Walk } from './walk.ts';

/** The slots of answers are read this often, of one node: more often they tell nothing. */
const SLOTS_READ_EVERY_MS = 100;

/** Reads from an answer how far its node is, unless that is known. */
function learnSlot(walk: Walk, node: UpstreamNode, result: Buffer): void {
  const now = performance.now();
  if (now - node.slotsReadAt < SLOTS_READ_EVERY_MS) return;
  node.slotsReadAt = now;
  const slot = leadingContextSlot(result);
  if (slot === null) return;
  // Everybody is told of it: what a caller writes in a way of its own must not pass for another commitment.
  const commitment = certainCommitment(walk.call);
  if (commitment === null) return;
  node.slots.told(commitment, slot, now);
  walk.group.toldSlots(now);
}

/** Takes in what an attempt says of its node. */
export function learnFrom(walk: Walk, node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
  const { nature, call } = walk;
  node.learn(outcome, nature.takesAllTheTime ? null : elapsedMs);
  if (outcome.kind !== 'answer' || outcome.answer.errorCode !== 0) return;
  if (nature.hedged) node.latencies.note(call.row, elapsedMs);
  if (call.row.context) learnSlot(walk, node, outcome.answer.body);
}

function tell(walk: Walk, node: UpstreamNode, elapsedMs: number, outcome: string): void {
  const endedAt = performance.now();
  walk.call.trace?.attempted({ node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome });
}

/** Tells whoever follows the call how an attempt ended. */
export function tellAttempt(walk: Walk, node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
  if (walk.call.trace == null) return;
  const isGood = outcome.kind === 'answer' && outcome.answer.errorCode === 0;
  tell(walk, node, elapsedMs, isGood ? 'ok' : outcomeText(outcome));
}

/** The same of one that was given up because another was done first: it is no failure of its node. */
export function tellOvertaken(walk: Walk, node: UpstreamNode, elapsedMs: number): void {
  node.overtaken(walk.call.row, elapsedMs);
  if (walk.call.trace != null) tell(walk, node, elapsedMs, 'given up: another node was first');
}
