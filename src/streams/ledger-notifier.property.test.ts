import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  block,
  executed,
  key,
  LedgerScript,
  NotificationRecorder,
  signature,
} from '../../test/streams/ledger-script.ts';
import { type Commitment, commitments } from '../protocol/commitment.ts';
import type { Subscription } from '../protocol/subscriptions.ts';
import { LedgerNotifier } from './ledger-notifier.ts';

/** What happens after a slot came to be: which of its forbears, counted back, become confirmed and rooted. */
type Step = Readonly<{
  /** How far back on the ledger its parent is; 1 is the slot before. */
  back: number;
  gap: number;
  isProcessed: boolean;
  /** Not whole yet when its commitment comes. */
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

/** A tree of slots, and of them the chain that the last one stands on. */
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

/** Confirms or roots a slot of the chain, counted back from the youngest there is. */
function settle(
  chain: readonly number[],
  at: number,
  back: number | null,
  tell: (slot: number) => void,
): void {
  const there = chain.filter((slot) => slot <= at);
  const slot = back === null ? undefined : there[there.length - 1 - back];
  if (slot !== undefined) tell(slot);
}

function live(story: LedgerScript, { at, parent, step }: Made, chain: readonly number[]): void {
  story.created(at, parent);
  story.account(at, 1, {});
  story.transaction(at, { n: at % 250, keys: [1] });
  const end = () => {
    story.block(block(at, [executed({ n: at % 250 })], parent));
    story.frozen(at);
  };
  if (!step.isLate) end();
  if (step.isProcessed && !step.isLate) story.processed(at);
  settle(chain, at, step.confirm, (slot) => story.confirmed(slot));
  settle(chain, at, step.root, (slot) => story.rooted(slot));
  if (step.isLate) end();
}

const subscriptionsAt = (commitment: Commitment): Subscription[] => [
  { kind: 'account', address: key(1), commitment, encoding: 'base64' },
  { kind: 'logs', of: { mentions: key(1) }, commitment },
  ...(commitment === 'processed'
    ? []
    : [
        {
          kind: 'block',
          mentions: null,
          commitment,
          encoding: 'base64',
          details: 'none',
          rewards: false,
          maxVersion: undefined,
        } as const,
      ]),
];

const ascending = (slots: readonly number[]): number[] => [...slots].sort((a, b) => a - b);

describe('whatever the order in which slots are confirmed and rooted', () => {
  it.each([false, true])('everything on the chain is told exactly once (intraSlot %s)', (intraSlot) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const notifier = new LedgerNotifier({ intraSlot });
        const story = new LedgerScript(notifier);
        const heard = commitments.map((commitment) =>
          subscriptionsAt(commitment).map((subscription) => {
            const one = new NotificationRecorder();
            notifier.add(subscription, one);
            return one;
          }),
        );
        const { made, chain } = grow(steps);
        for (const one of made) live(story, one, chain);
        story.rooted(chain[chain.length - 1] as number);
        for (const { slots } of heard.slice(1).flat()) expect(ascending(slots)).toEqual(chain);
        for (const { slots } of heard[0] ?? []) {
          expect(new Set(slots).size).toBe(slots.length);
          expect(ascending(slots.filter((slot) => chain.includes(slot)))).toEqual(chain);
        }
      }),
    );
  });

  it('every signature is told once, as soon as its slot has the commitment', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const notifier = new LedgerNotifier();
        const story = new LedgerScript(notifier);
        const { made, chain } = grow(steps);
        const waiting = made.map(({ at }) => {
          const heard = new NotificationRecorder();
          notifier.add(
            { kind: 'signature', signature: signature(at % 250), commitment: 'finalized', received: false },
            heard,
          );
          return { at, heard };
        });
        for (const one of made) live(story, one, chain);
        story.rooted(chain[chain.length - 1] as number);
        for (const { at, heard } of waiting) expect(heard.slots).toEqual(chain.includes(at) ? [at] : []);
      }),
    );
  });
});
