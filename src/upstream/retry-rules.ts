import type { Nature } from '../protocol/methods.ts';
import type { Outcome } from './outcome.ts';

/**
 * Which outcome is worth another node. Pure. Source: reference solana-json-rpc.md §1.6 and the natures of
 * protocol/methods.ts.
 */

/**
 * - `answer`: give it to the caller.
 * - `hop`: ask another node.
 * - `hop-once`: ask one other node, then believe what two have said.
 * - `hop-away`: ask other nodes, and this one not again.
 * - `fail`: no answer, and no other node may be asked.
 */
export type Verdict = 'answer' | 'hop' | 'hop-once' | 'hop-away' | 'fail';

/** The node cannot answer this now, or at all: behind, without history or index, a minimal API, throttled. */
const HOP: ReadonlySet<number> = new Set([
  -32004, -32005, -32008, -32010, -32011, -32012, -32014, -32016, -32019, -32065, -32601, -32603,
]);

/** May be the truth, or a gap in this node's own ledger, which looks the same. */
const HOP_ONCE: ReadonlySet<number> = new Set([-32001, -32007, -32009, -32018, -32020]);

/** Natures whose request may reach one node only, whatever came of it. */
const ONE_NODE: ReadonlySet<Nature> = new Set<Nature>(['mint', 'unknown']);

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
export const isRefusedConnection = (outcome: Outcome): boolean =>
  outcome.kind === 'transport' && !outcome.bytesLeft && !outcome.timedOut;

function judgeAnswer(nature: Nature, outcome: Extract<Outcome, { kind: 'answer' }>): Verdict {
  if (outcome.answer.errorCode === 0 || ONE_NODE.has(nature)) return 'answer';
  if (HOP.has(outcome.answer.errorCode)) return 'hop';
  if (HOP_ONCE.has(outcome.answer.errorCode)) return 'hop-once';
  return outcome.preflight === 'blockhash-not-found' ? 'hop-once' : 'answer';
}

/** What to do after an attempt for a method of this nature. */
export function judge(nature: Nature, outcome: Outcome): Verdict {
  switch (outcome.kind) {
    case 'answer':
      return judgeAnswer(nature, outcome);
    case 'aborted':
    case 'too-large':
      return 'fail';
    case 'transport':
      return outcome.bytesLeft && ONE_NODE.has(nature) ? 'fail' : 'hop';
    case 'status':
      if (ONE_NODE.has(nature)) return 'fail';
      return refusesRequest(outcome) ? 'hop-away' : 'hop';
    case 'garbage':
    case 'withheld':
      return ONE_NODE.has(nature) ? 'fail' : 'hop';
  }
}

/** Whether the node may have acted on the request without our learning of it. */
export function isAmbiguous(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answer':
      return outcome.answer.errorCode === -32603;
    case 'status':
      return outcome.status >= 500;
    case 'garbage':
    case 'withheld':
    case 'too-large':
      return true;
    case 'transport':
    case 'aborted':
      return outcome.bytesLeft;
  }
}

/**
 * Whether one attempt may take all the time there is: when none may follow it, or when the node needs long for
 * honest work that a second one would only repeat.
 */
export function takesAllTheTime(nature: Nature): boolean {
  return nature === 'scan' || ONE_NODE.has(nature);
}

/** Whether the caller's leaving stops the work: a transaction once handed over is sent. */
export const stopsWithCaller = (nature: Nature): boolean => nature !== 'send';

/** From the error that says most about the question to the one that says most about the node. */
const TELLING: readonly (readonly number[])[] = [
  [-32001, -32007, -32009, -32018, -32020, -32002],
  [-32016, -32004, -32014],
  [-32010, -32011, -32012, -32008, -32019],
  [-32603],
  [-32005],
];

/**
 * How much an error tells the caller, for choosing among those of several nodes. Lower is better; codes that are
 * not listed say least (the node lacks the method, or throttles us).
 */
export function rankOfError(code: number): number {
  const rank = TELLING.findIndex((codes) => codes.includes(code));
  return rank < 0 ? TELLING.length : rank;
}
