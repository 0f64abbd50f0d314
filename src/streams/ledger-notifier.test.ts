import { describe, expect, it } from 'vitest';
import { NotificationRecorder } from '../../test/streams/ledger-script.ts';
import { accountOf, blocks, logs, play, signatureOf, stage } from '../../test/streams/notifier-stage.ts';
import { commitments } from '../protocol/commitment.ts';
import { slot } from '../solana/units.ts';

describe('a commitment', () => {
  it('delays notifications', () => {
    const { script, subscribe } = stage();
    const received = commitments.map((commitment) => subscribe(accountOf(1, commitment)));
    const counts = () => received.map(({ slots }) => slots.length);
    play(script, 1);
    expect(counts()).toEqual([0, 0, 0]);
    script.processed(1);
    expect(counts()).toEqual([1, 0, 0]);
    script.confirmed(1);
    expect(counts()).toEqual([1, 1, 0]);
    script.rooted(1);
    expect(counts()).toEqual([1, 1, 1]);
  });

  it('is never reached by a dead slot', () => {
    const { script, subscribe } = stage();
    const received = subscribe(logs('confirmed'));
    script.created(1);
    script.transaction(1, { n: 1 });
    script.dead(1);
    script.confirmed(1);
    expect(received.slots).toEqual([]);
  });
});

describe('within a slot', () => {
  it('an account is emitted once, in its final state', () => {
    const { script, subscribe } = stage();
    const received = subscribe(accountOf(1, 'processed'));
    script.created(1);
    script.account(1, 1, { rentEpoch: 1n });
    script.account(1, 1, { rentEpoch: 2n });
    script.processed(1);
    expect(received.values).toMatchObject([{ rentEpoch: 2 }]);
  });

  it('`processed` is emitted with each event with intraSlot, the others once per slot', () => {
    const { script, subscribe } = stage({ intraSlot: true });
    const received = commitments.map((commitment) => subscribe(accountOf(1, commitment)));
    script.created(1);
    script.account(1, 1, { rentEpoch: 1n });
    script.account(1, 1, { rentEpoch: 2n });
    expect(received[0]?.values).toMatchObject([{ rentEpoch: 1 }, { rentEpoch: 2 }]);
    script.processed(1);
    script.confirmed(1);
    script.rooted(1);
    expect(received.map(({ values }) => values.length)).toEqual([2, 1, 1]);
  });
});

describe('a subscription', () => {
  it('may end itself and others during a notification', () => {
    const { notifier, script, subscribe } = stage();
    const after = subscribe(logs('processed'));
    const ends: (() => void)[] = [];
    const ending = { onNotification: () => ends.forEach((end) => void end()), onError: () => {} };
    ends.push(notifier.add(logs('processed'), ending), notifier.add(logs('processed'), ending));
    play(script, 1);
    script.processed(1);
    expect(after.slots).toEqual([1]);
  });

  it('receives the whole current slot with retainUnsubscribed', () => {
    const { script, subscribe } = stage({ retainUnsubscribed: true });
    play(script, 1);
    const received = subscribe(logs('finalized'));
    const shown = subscribe(blocks('confirmed'));
    script.rooted(1);
    expect([received.slots, shown.slots]).toEqual([[1], [1]]);
  });

  it('is visible in hasSubscribers', () => {
    const { notifier } = stage();
    expect(notifier.hasSubscribers('account')).toBe(false);
    const end = notifier.add(accountOf(1, 'finalized'), new NotificationRecorder());
    const endSlots = notifier.add({ kind: 'slot' }, new NotificationRecorder());
    expect([
      notifier.hasSubscribers('account'),
      notifier.hasSubscribers('slot'),
      notifier.hasSubscribers('block'),
    ]).toEqual([true, true, false]);
    end();
    endSlots();
    expect([notifier.hasSubscribers('account'), notifier.hasSubscribers('slot')]).toEqual([false, false]);
  });
});

describe('a signature', () => {
  it('is reported as received, once, if requested', () => {
    const { script, subscribe } = stage();
    const received = subscribe(signatureOf(1, 'confirmed', true));
    const other = subscribe(signatureOf(1, 'confirmed'));
    script.created(1);
    script.received(1, 1);
    script.received(1, 1);
    script.transaction(1, { n: 1, meta: { err: { InstructionError: [0, { Custom: 1 }] } } });
    script.frozen(1);
    script.confirmed(1);
    const outcome = '{"context":{"slot":1},"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}';
    expect(received.texts).toEqual(['{"context":{"slot":1},"value":"receivedSignature"}', outcome]);
    expect(other.texts).toEqual([outcome]);
  });

  it('that landed before the subscription is emitted with the next bank of its commitment', () => {
    const { script, subscribe } = stage({ statusOf: () => ({ slot: slot(5), err: 'AccountInUse' }) });
    const received = subscribe(signatureOf(1, 'confirmed'));
    script.processed(9);
    script.confirmed(4);
    expect(received.texts).toEqual([]);
    script.confirmed(5);
    expect(received.texts).toEqual(['{"context":{"slot":5},"value":{"err":"AccountInUse"}}']);
    expect(received.isOver).toBe(true);
  });
});
