import type { JsonValue, WritableJson } from '../src/base/json.ts';
import { type Difference, differences, differencesBetween, shapeDifferences } from './differences.ts';
import type { NodeError, Reply, RpcNode } from './node.ts';

/**
 * How two responses are compared, by the kind of the method (protocol/methods.ts):
 * - `exact`: fixed, or determined by slot, signature or epoch: equal.
 * - `moving`: state at the tip. The first node is called before and after the second, whose response must equal one of
 *   the two. If the state changed in between and neither matches, all three calls are repeated.
 * - `rising`: increasing numbers: between the two responses of the first node, with a tolerance in slots.
 * - `shape`: specific to the node: same members, same types.
 */
export type Comparison = 'exact' | 'moving' | 'rising' | 'shape';

export type ComparisonResult = Readonly<{
  kind: 'same' | 'different' | 'undecided' | 'unanswered';
  differences: readonly Difference[];
  /** Why the result is undecided or unanswered. */
  reason?: string;
}>;

export type CompareOptions = Readonly<{
  /** Attempts to compare moving state before the result is `undecided`. */
  triesMax: number;
  /** Slots that one node may be ahead of the other. */
  slackSlots: number;
  /** Pause between attempts. */
  pauseMs: number;
}>;

export const compareOptions: CompareOptions = { triesMax: 10, slackSlots: 150, pauseMs: 250 };

const same: ComparisonResult = { kind: 'same', differences: [] };

type Members = { readonly [name: string]: JsonValue };

/** A result without its context. */
function withoutContext(result: JsonValue): JsonValue {
  const isWrapped = typeof result === 'object' && result !== null && 'context' in result && 'value' in result;
  return isWrapped ? ((result as Members).value as JsonValue) : result;
}

const slotOf = (reply: Reply): number | null => {
  if (reply.kind !== 'result') return null;
  const context = (reply.result as Members | null)?.context as Members | undefined;
  return context === undefined ? null : Number(context.slot);
};

const errorValue = ({ code, message, data }: NodeError): JsonValue =>
  data === undefined ? { code, message } : { code, message, data };

const comparedOf = (reply: Reply): JsonValue =>
  reply.kind === 'result'
    ? withoutContext(reply.result)
    : reply.kind === 'error'
      ? errorValue(reply.error)
      : null;

/** Differences between the shapes of the contexts. */
function contextShape(ours: Reply, theirs: Reply): Difference[] {
  if (ours.kind !== 'result' || theirs.kind !== 'result') return [];
  const contextOf = (result: JsonValue): JsonValue | undefined => (result as Members | null)?.context;
  return shapeDifferences(contextOf(ours.result), contextOf(theirs.result)).map((difference) => ({
    ...difference,
    path: `.context${difference.path}`,
  }));
}

function unanswered(...replies: readonly Reply[]): ComparisonResult | null {
  const failed = replies.find((reply) => reply.kind === 'failure');
  return failed === undefined ? null : { kind: 'unanswered', differences: [], reason: failed.reason };
}

const different = (found: readonly Difference[]): ComparisonResult =>
  found.length === 0 ? same : { kind: 'different', differences: found };

/** One node returned a result, the other an error. */
function kindsDiffer(ours: Reply, theirs: Reply): ComparisonResult | null {
  if (ours.kind === theirs.kind) return null;
  return {
    kind: 'different',
    differences: [{ path: '.', ours: comparedOf(ours), theirs: comparedOf(theirs) }],
  };
}

/** Both nodes returned a result for an invalid call. */
function answeredBoth(ours: Reply, theirs: Reply): ComparisonResult | null {
  if (ours.kind !== 'result' || theirs.kind !== 'result') return null;
  const difference = { path: '.', ours: comparedOf(ours), theirs: comparedOf(theirs) };
  return { kind: 'different', differences: [difference], reason: 'both return a result for an invalid call' };
}

type Sandwich = Readonly<{ before: Reply; theirs: Reply; after: Reply }>;

/** @returns null when the state changed or the second node is at another slot. */
function evaluateMoving({ before, theirs, after }: Sandwich): ComparisonResult | null {
  const found = [before, after].map((ours) =>
    ours.kind === theirs.kind
      ? [...differences(comparedOf(ours), comparedOf(theirs)), ...contextShape(ours, theirs)]
      : null,
  );
  if (found.some((list) => list?.length === 0)) return same;
  if (differences(comparedOf(before), comparedOf(after)).length > 0) return null;
  const [low, at, high] = [slotOf(before), slotOf(theirs), slotOf(after)];
  if (low !== null && at !== null && high !== null && (at < low || at > high)) return null;
  return kindsDiffer(before, theirs) ?? different(found[0] ?? []);
}

/** Maximum growth per slot by path; other numbers do not grow. */
const growthPerSlot: readonly (readonly [path: RegExp, most: number])[] = [
  [/^$|slot|height|lastVote|byIdentity/i, 1],
  [/epochCredits/, 16],
  [/transactionCount/, 20_000],
];

const slackOf = (path: string, slots: number): number =>
  slots * (growthPerSlot.find(([pattern]) => pattern.test(path))?.[1] ?? 0);

function evaluateRising({ before, theirs, after }: Sandwich, slots: number): ComparisonResult {
  const [low, at, high] = [before, theirs, after].map(comparedOf);
  const slack = (path: string): number => slackOf(path, slots);
  return kindsDiffer(before, theirs) ?? different(differencesBetween(low, at, high, slack));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function compareMoving(
  ours: RpcNode,
  theirs: RpcNode,
  send: (node: RpcNode) => Promise<Reply>,
  evaluate: (sandwich: Sandwich) => ComparisonResult | null,
  { triesMax, pauseMs }: CompareOptions,
): Promise<ComparisonResult> {
  let seen: ComparisonResult | null = null;
  for (let tried = 0; tried < triesMax; tried++) {
    if (tried > 0) await pause(pauseMs);
    const before = await send(ours);
    const other = await send(theirs);
    const after = await send(ours);
    const verdict = unanswered(before, other, after) ?? evaluate({ before, theirs: other, after });
    if (verdict === null) continue;
    // The other node may lag, so a difference must appear twice.
    if (verdict.kind !== 'different' || seen !== null) return verdict;
    seen = verdict;
  }
  const reason = seen === null ? 'the state changed in every attempt' : 'a difference appeared only once';
  return { kind: 'undecided', differences: seen?.differences ?? [], reason };
}

/** Sends a call to both nodes and compares the responses. */
export async function compareCall(
  ours: RpcNode,
  theirs: RpcNode,
  call: Readonly<{ method: string; params: WritableJson; by: Comparison; mustRefuse: boolean }>,
  options: CompareOptions = compareOptions,
): Promise<ComparisonResult> {
  const { method, params, by, mustRefuse } = call;
  const send = (node: RpcNode): Promise<Reply> => node.request(method, params);
  if (by === 'moving') return compareMoving(ours, theirs, send, evaluateMoving, options);
  if (by === 'rising') {
    return compareMoving(ours, theirs, send, (all) => evaluateRising(all, options.slackSlots), options);
  }
  const [own, other] = await Promise.all([send(ours), send(theirs)]);
  const verdict = unanswered(own, other) ?? kindsDiffer(own, other);
  if (verdict !== null) return verdict;
  if (mustRefuse)
    return answeredBoth(own, other) ?? different(differences(comparedOf(own), comparedOf(other)));
  if (by === 'shape') return different(shapeDifferences(comparedOf(own), comparedOf(other)));
  return different([...differences(comparedOf(own), comparedOf(other)), ...contextShape(own, other)]);
}
