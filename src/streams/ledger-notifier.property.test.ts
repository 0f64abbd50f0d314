import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  block,
  executed,
  key,
  LedgerScript,
  NotificationRecorder,
} from '../../test/streams/ledger-script.ts';
import { blocks } from '../../test/streams/notifier-stage.ts';
import { type Commitment, commitments } from '../protocol/commitment.ts';
import type { Subscription } from '../protocol/subscriptions.ts';
import { LedgerNotifier } from './ledger-notifier.ts';

/** A slot, and the distances to the ancestors that become confirmed and rooted. */
type Step = Readonly<{
  /** Distance to its parent; 1 is the previous slot. */
  back: number;
  gap: number;
  isProcessed: boolean;
  /** Incomplete when its commitment arrives. */
  isLate: boolean;
  confirm: number | null;
  root: number | null;
}>;

const step: fc.Arbitrary<Step> = fc.record({
  back: fc.integer({ min: 1, max: 4 }),
  gap: fc.integer({ min: 1, max: 3 }),
  isProcessed: fc.boolean(),
  isLate: fc.boolean(),
  confirm: fc.option(fc.integer({ min: 0, max: 5 })),
  root: fc.option(fc.integer({ min: 0, max: 8 })),
});

type Made = Readonly<{ at: number; parent: number; step: Step }>;

/** A tree of slots, and the chain of the last one. */
function grow(steps: readonly Step[]): { made: Made[]; chain: number[] } {
  const made: Made[] = [];
  let at = 0;
  for (const one of steps) {
    at += one.gap;
    made.push({ at, parent: made[made.length - one.back]?.at ?? 0, step: one });
  }
  const chain: number[] = [];
  for (let next = at; next !== 0; next = made.find((slot) => slot.at === next)?.parent ?? 0)
    chain.unshift(next);
  return { made, chain };
}

/** Confirms or roots a slot of the chain, counted back from the newest. */
function settle(
  chain: readonly number[],
  at: number,
  back: number | null,
  emit: (slot: number) => void,
): void {
  const processed = chain.filter((slot) => slot <= at);
  const slot = back === null ? undefined : processed[processed.length - 1 - back];
  if (slot !== undefined) emit(slot);
}

function live(script: LedgerScript, { at, parent, step }: Made, chain: readonly number[]): void {
  script.created(at, parent);
  script.account(at, 1, {});
  script.transaction(at, { n: at % 250, keys: [1] });
  const end = () => {
    script.block(block(at, [executed({ n: at % 250 })], parent));
    script.frozen(at);
  };
  if (!step.isLate) end();
  if (step.isProcessed && !step.isLate) script.processed(at);
  settle(chain, at, step.confirm, (slot) => script.confirmed(slot));
  settle(chain, at, step.root, (slot) => script.rooted(slot));
  if (step.isLate) end();
}

const subscriptionsAt = (commitment: Commitment): Subscription[] => [
  { kind: 'account', address: key(1), commitment, encoding: 'base64' },
  { kind: 'logs', of: { mentions: key(1) }, commitment },
  ...(commitment === 'processed' ? [] : [blocks(commitment)]),
];

const ascending = (slots: readonly number[]): number[] => [...slots].sort((a, b) => a - b);

it.each([false, true])(
  'for any order of confirmed and rooted slots, everything on the chain is emitted exactly once (intraSlot %s)',
  (intraSlot) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const notifier = new LedgerNotifier({ intraSlot });
        const script = new LedgerScript(notifier);
        const received = commitments.map((commitment) =>
          subscriptionsAt(commitment).map((subscription) => {
            const one = new NotificationRecorder();
            notifier.add(subscription, one);
            return one;
          }),
        );
        const { made, chain } = grow(steps);
        for (const one of made) live(script, one, chain);
        script.rooted(chain[chain.length - 1] as number);
        for (const { slots } of received.slice(1).flat()) expect(ascending(slots)).toEqual(chain);
        for (const { slots } of received[0] ?? []) {
          expect(new Set(slots).size).toBe(slots.length);
          expect(ascending(slots.filter((slot) => chain.includes(slot)))).toEqual(chain);
        }
      }),
    );
  },
);
