import { describe, expect, it } from 'vitest';
import { key, NotificationRecorder, signature } from '../../test/streams/ledger-script.ts';
import { accountOf, logs, play, stage } from '../../test/streams/notifier-stage.ts';
import { slot } from '../solana/units.ts';

describe('slot events', () => {
  it('have the format of Agave', () => {
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

  it('include gossip votes', () => {
    const { notifier, subscribe } = stage();
    const received = subscribe({ kind: 'vote' });
    const vote = {
      signature: signature(1),
      timestamp: null,
      hash: key(2) as never,
      slots: [slot(4), slot(5)],
    };
    notifier.emit({ kind: 'vote', vote: { ...vote, votePubkey: key(3) } });
    expect(received.texts).toEqual([
      `{"votePubkey":"${key(3)}","slots":[4,5],"hash":"${key(2)}","timestamp":null,"signature":"${signature(1)}"}`,
    ]);
  });
});

describe('limits', () => {
  it('fail only subscriptions with pending notifications of an evicted slot', () => {
    const evicted: unknown[] = [];
    const { notifier, script, subscribe } = stage({
      slotsMax: 2,
      onEvicted: (slot, failed) => evicted.push([Number(slot), ...failed]),
    });
    const failing = () => {
      const received = Object.assign(new NotificationRecorder(), { failures: [] as string[] });
      received.onError = ({ code }) => received.failures.push(code);
      return received;
    };
    const pending = failing();
    const end = notifier.add(logs('finalized'), pending);
    const confirmed = subscribe(logs('confirmed'));
    for (const at of [1, 2, 3]) {
      play(script, at);
      script.confirmed(at);
    }
    expect(pending.failures).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(evicted).toEqual([[1, 'finalized']]);
    end();
    script.rooted(3);
    const later = subscribe(logs('finalized'));
    play(script, 4);
    script.rooted(4);
    expect(pending.texts).toEqual([]);
    expect(confirmed.slots).toEqual([1, 2, 3, 4]);
    expect(later.slots).toEqual([4]);
  });

  it('do not fail subscriptions without pending notifications', () => {
    const { script, subscribe } = stage({ slotsMax: 2, retainUnsubscribed: true });
    const received = subscribe(accountOf(2, 'finalized'));
    for (const at of [1, 2, 3]) play(script, at);
    script.account(3, 2, {});
    script.rooted(3);
    expect(received.slots).toEqual([3]);
  });

  it('evict the oldest slot, and count evicted entries', () => {
    const evicted: number[] = [];
    const { notifier, script } = stage({ entriesMax: 4, onEvicted: (slot) => evicted.push(Number(slot)) });
    const listen = () => {
      for (const subscription of [logs('finalized'), accountOf(1, 'finalized')]) {
        notifier.add(subscription, { onNotification: () => {}, onError: () => {} });
      }
    };
    listen();
    for (const at of [1, 2, 3]) play(script, at);
    expect(evicted).toEqual([1]);
    script.rooted(3);
    listen();
    for (const at of [4, 5]) play(script, at);
    expect(evicted).toEqual([1]);
  });
});
