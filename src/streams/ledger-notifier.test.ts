import { describe, expect, it } from 'vitest';
import { block, executed, NotificationRecorder } from '../../test/streams/ledger-script.ts';
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

  it('emits late events at once', () => {
    const { script, subscribe } = stage();
    const received = commitments.map((commitment) => subscribe(logs(commitment)));
    play(script, 1);
    script.confirmed(1);
    script.transaction(1, { n: 7 });
    script.rooted(1);
    expect(received.map(({ slots }) => slots.length)).toEqual([2, 2, 2]);
  });

  it('of blocks without earlier events needs only the block', () => {
    const { script, subscribe } = stage();
    const received = subscribe(logs('confirmed'));
    const shown = subscribe(blocks('confirmed'));
    for (const at of [5, 6]) {
      script.block(block(at, [executed({ n: at })]));
      script.transaction(at, { n: at });
      script.confirmed(at);
    }
    expect(received.slots).toEqual([5, 6]);
    expect(shown.slots).toEqual([5, 6]);
  });

  it('finalized emits confirmed slots before a gap', () => {
    const { script, subscribe } = stage();
    const received = subscribe(logs('finalized'));
    play(script, 1);
    script.confirmed(1);
    play(script, 9);
    script.confirmed(9);
    script.rooted(9);
    expect(received.slots).toEqual([1, 9]);
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
  it('is independent of equal ones', () => {
    const { notifier, script, subscribe } = stage();
    const one = new NotificationRecorder();
    const end = notifier.add(accountOf(1, 'processed'), one);
    const other = subscribe(accountOf(1, 'processed'));
    play(script, 1);
    script.processed(1);
    end();
    end();
    play(script, 2);
    script.processed(2);
    expect([one.slots, other.slots]).toEqual([[1], [1, 2]]);
  });

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

  it('that landed before is emitted with the next bank of its commitment', () => {
    const { script, subscribe } = stage({ statusOf: () => ({ slot: slot(5), err: 'AccountInUse' }) });
    const received = subscribe(signatureOf(1, 'confirmed'));
    script.processed(9);
    script.confirmed(4);
    expect(received.texts).toEqual([]);
    script.confirmed(6);
    expect(received.texts).toEqual(['{"context":{"slot":6},"value":{"err":"AccountInUse"}}']);
    expect(received.isOver).toBe(true);
  });

  it('that is unknown at the next bank stays pending', () => {
    let lookups = 0;
    const statusOf = () => {
      lookups++;
      return null;
    };
    const { script, subscribe } = stage({ statusOf });
    const received = subscribe(signatureOf(1, 'processed'));
    script.processed(1);
    script.processed(2);
    expect(lookups).toBe(1);
    play(script, 3, 2, 1);
    script.processed(3);
    expect(received.slots).toEqual([3]);
  });
});
