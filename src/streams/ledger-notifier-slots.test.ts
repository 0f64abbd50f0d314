import { describe, expect, it } from 'vitest';
import { accountOf, logs, play, stage } from '../../test/streams/notifier-stage.ts';
import { Heard, key, signature } from '../../test/streams/told-ledger.ts';
import { programs } from '../ledger/programs.ts';
import { slot } from '../ledger/units.ts';

describe('the course of slots', () => {
  it('is told as it comes, in the members of Agave', () => {
    const { notifier, story, hear } = stage();
    const slots = hear({ kind: 'slot' });
    const roots = hear({ kind: 'root' });
    const updates = hear({ kind: 'slotsUpdates' });
    notifier.tell({ kind: 'firstShred', slot: slot(7), at: 1n });
    notifier.tell({ kind: 'completed', slot: slot(7), at: 2n });
    story.created(7, 5);
    story.frozen(7);
    story.dead(7);
    story.confirmed(7);
    story.rooted(7);
    expect(slots.texts).toEqual(['{"slot":7,"parent":5,"root":0}']);
    expect(roots.texts).toEqual(['7']);
    expect(updates.texts).toEqual([
      '{"type":"firstShredReceived","slot":7,"timestamp":1}',
      '{"type":"completed","slot":7,"timestamp":2}',
      '{"type":"createdBank","slot":7,"parent":5,"timestamp":7}',
      '{"type":"frozen","slot":7,"timestamp":7,"stats":{"numTransactionEntries":1,"numSuccessfulTransactions":2,"numFailedTransactions":3,"maxTransactionsPerEntry":4}}',
      '{"type":"dead","slot":7,"timestamp":7,"err":"no good"}',
      '{"type":"optimisticConfirmation","slot":7,"timestamp":7}',
      '{"type":"root","slot":7,"timestamp":7}',
    ]);
  });

  it('has the votes of gossip', () => {
    const { notifier, hear } = stage();
    const heard = hear({ kind: 'vote' });
    const vote = {
      signature: signature(1),
      timestamp: null,
      hash: key(2) as never,
      slots: [slot(4), slot(5)],
    };
    notifier.tell({ kind: 'vote', vote: { ...vote, votePubkey: key(3) } });
    expect(heard.texts).toEqual([
      `{"votePubkey":"${key(3)}","slots":[4,5],"hash":"${key(2)}","timestamp":null,"signature":"${signature(1)}"}`,
    ]);
  });
});

describe('the limits', () => {
  it('fail those who are owed something of a slot that is let go, and nobody else', () => {
    const forgotten: unknown[] = [];
    const { notifier, story, hear } = stage({
      slotsMax: 2,
      onForgotten: (slot, failed) => forgotten.push([Number(slot), ...failed]),
    });
    const failing = () => {
      const heard = Object.assign(new Heard(), { failures: [] as string[] });
      heard.fail = ({ code }) => heard.failures.push(code);
      return heard;
    };
    const [owed, other] = [failing(), failing()];
    const end = notifier.add(logs('finalized'), owed);
    notifier.add(accountOf(2, 'finalized'), other);
    const confirmed = hear(logs('confirmed'));
    for (const at of [1, 2, 3]) {
      play(story, at);
      story.confirmed(at);
    }
    expect([owed.failures, other.failures]).toEqual([['UPSTREAM_UNAVAILABLE'], ['UPSTREAM_UNAVAILABLE']]);
    expect(forgotten).toEqual([[1, 'finalized']]);
    end();
    story.rooted(3);
    const later = hear(logs('finalized'));
    play(story, 4);
    story.rooted(4);
    expect(owed.texts).toEqual([]);
    expect(confirmed.slots).toEqual([1, 2, 3, 4]);
    expect(later.slots).toEqual([4]);
  });

  it('fail nobody for a slot in which nothing is for them', () => {
    const { story, hear } = stage({ slotsMax: 2, keepUnwanted: true });
    const heard = hear(accountOf(2, 'finalized'));
    for (const at of [1, 2, 3]) play(story, at);
    story.account(3, 2, {});
    story.rooted(3);
    expect(heard.slots).toEqual([3]);
  });

  it('let the oldest slot go when too much is held, and count what is let go', () => {
    const forgotten: number[] = [];
    const { notifier, story } = stage({ heldMax: 4, onForgotten: (slot) => forgotten.push(Number(slot)) });
    const listen = () => {
      for (const subscription of [logs('finalized'), accountOf(1, 'finalized')]) {
        notifier.add(subscription, { notify: () => {}, fail: () => {} });
      }
    };
    listen();
    for (const at of [1, 2, 3]) play(story, at);
    expect(forgotten).toEqual([1]);
    story.rooted(3);
    listen();
    for (const at of [4, 5]) play(story, at);
    expect(forgotten).toEqual([1]);
  });

  it('hold nothing that nobody wants', () => {
    const { story, hear } = stage({ heldMax: 1 });
    const heard = hear(accountOf(1, 'finalized'));
    play(story, 1);
    for (let n = 2; n < 10; n++) story.account(1, n, { owner: programs.token });
    for (let n = 2; n < 10; n++) story.transaction(1, { n });
    story.rooted(1);
    expect(heard.slots).toEqual([1]);
  });
});
