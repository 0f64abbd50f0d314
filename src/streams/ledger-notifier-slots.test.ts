import { describe, expect, it } from 'vitest';
import { key, NotificationRecorder, signature } from '../../test/streams/ledger-script.ts';
import { accountOf, logs, play, stage } from '../../test/streams/notifier-stage.ts';
import { programs } from '../solana/programs.ts';
import { slot } from '../solana/units.ts';

describe('the course of slots', () => {
  it('is told as it comes, in the members of Agave', () => {
    const { notifier, script, subscribe } = stage();
    const slots = subscribe({ kind: 'slot' });
    const roots = subscribe({ kind: 'root' });
    const updates = subscribe({ kind: 'slotsUpdates' });
    notifier.emit({ kind: 'firstShred', slot: slot(7), at: 1n });
    notifier.emit({ kind: 'completed', slot: slot(7), at: 2n });
    script.created(7, 5);
    script.frozen(7);
    script.dead(7);
    script.confirmed(7);
    script.rooted(7);
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
    const { notifier, subscribe } = stage();
    const heard = subscribe({ kind: 'vote' });
    const vote = {
      signature: signature(1),
      timestamp: null,
      hash: key(2) as never,
      slots: [slot(4), slot(5)],
    };
    notifier.emit({ kind: 'vote', vote: { ...vote, votePubkey: key(3) } });
    expect(heard.texts).toEqual([
      `{"votePubkey":"${key(3)}","slots":[4,5],"hash":"${key(2)}","timestamp":null,"signature":"${signature(1)}"}`,
    ]);
  });
});

describe('the limits', () => {
  it('fail those who are owed something of a slot that is let go, and nobody else', () => {
    const forgotten: unknown[] = [];
    const { notifier, script, subscribe } = stage({
      slotsMax: 2,
      onEvicted: (slot, failed) => forgotten.push([Number(slot), ...failed]),
    });
    const failing = () => {
      const heard = Object.assign(new NotificationRecorder(), { failures: [] as string[] });
      heard.onError = ({ code }) => heard.failures.push(code);
      return heard;
    };
    const [owed, other] = [failing(), failing()];
    const end = notifier.add(logs('finalized'), owed);
    notifier.add(accountOf(2, 'finalized'), other);
    const confirmed = subscribe(logs('confirmed'));
    for (const at of [1, 2, 3]) {
      play(script, at);
      script.confirmed(at);
    }
    expect([owed.failures, other.failures]).toEqual([['UPSTREAM_UNAVAILABLE'], ['UPSTREAM_UNAVAILABLE']]);
    expect(forgotten).toEqual([[1, 'finalized']]);
    end();
    script.rooted(3);
    const later = subscribe(logs('finalized'));
    play(script, 4);
    script.rooted(4);
    expect(owed.texts).toEqual([]);
    expect(confirmed.slots).toEqual([1, 2, 3, 4]);
    expect(later.slots).toEqual([4]);
  });

  it('fail nobody for a slot in which nothing is for them', () => {
    const { script, subscribe } = stage({ slotsMax: 2, retainUnsubscribed: true });
    const heard = subscribe(accountOf(2, 'finalized'));
    for (const at of [1, 2, 3]) play(script, at);
    script.account(3, 2, {});
    script.rooted(3);
    expect(heard.slots).toEqual([3]);
  });

  it('let the oldest slot go when too much is held, and count what is let go', () => {
    const forgotten: number[] = [];
    const { notifier, script } = stage({ entriesMax: 4, onEvicted: (slot) => forgotten.push(Number(slot)) });
    const listen = () => {
      for (const subscription of [logs('finalized'), accountOf(1, 'finalized')]) {
        notifier.add(subscription, { onNotification: () => {}, onError: () => {} });
      }
    };
    listen();
    for (const at of [1, 2, 3]) play(script, at);
    expect(forgotten).toEqual([1]);
    script.rooted(3);
    listen();
    for (const at of [4, 5]) play(script, at);
    expect(forgotten).toEqual([1]);
  });

  it('hold nothing that nobody wants', () => {
    const { script, subscribe } = stage({ entriesMax: 1 });
    const heard = subscribe(accountOf(1, 'finalized'));
    play(script, 1);
    for (let n = 2; n < 10; n++) script.account(1, n, { owner: programs.token });
    for (let n = 2; n < 10; n++) script.transaction(1, { n });
    script.rooted(1);
    expect(heard.slots).toEqual([1]);
  });
});
