import { describe, expect, it } from 'vitest';
import { block, executed, NotificationRecorder, signature } from '../../test/streams/ledger-script.ts';
import { accountOf, blocks, logs, play, signatureOf, stage } from '../../test/streams/notifier-stage.ts';
import { commitments } from '../protocol/commitment.ts';
import { slot } from '../solana/units.ts';

describe('a commitment', () => {
  it('is waited for', () => {
    const { script, subscribe } = stage();
    const heard = commitments.map((commitment) => subscribe(accountOf(1, commitment)));
    const told = () => heard.map(({ slots }) => slots.length);
    play(script, 1);
    expect(told()).toEqual([0, 0, 0]);
    script.processed(1);
    expect(told()).toEqual([1, 0, 0]);
    script.confirmed(1);
    expect(told()).toEqual([1, 1, 0]);
    script.rooted(1);
    expect(told()).toEqual([1, 1, 1]);
  });

  it.each(['confirmed', 'rooted'] as const)('%s tells the slots below it, oldest first, once', (kind) => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs(kind === 'confirmed' ? 'confirmed' : 'finalized'));
    for (const at of [1, 2, 3, 4]) play(script, at);
    script[kind](3);
    script[kind](2);
    script[kind](4);
    script[kind](4);
    expect(heard.slots).toEqual([1, 2, 3, 4]);
  });

  it('implies those below it', () => {
    const { script, subscribe } = stage();
    const heard = commitments.map((commitment) => subscribe(logs(commitment)));
    play(script, 1);
    play(script, 2);
    script.rooted(2);
    expect(heard.map(({ slots }) => slots)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('is not reached by another fork', () => {
    const { script, subscribe } = stage();
    const confirmed = subscribe(logs('confirmed'));
    const finalized = subscribe(logs('finalized'));
    play(script, 1);
    play(script, 2, 1);
    play(script, 3, 1);
    play(script, 4, 3);
    script.confirmed(4);
    script.rooted(4);
    expect(confirmed.slots).toEqual([1, 3, 4]);
    expect(finalized.slots).toEqual([1, 3, 4]);
  });

  it('is never reached by a dead slot', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs('confirmed'));
    script.created(1);
    script.transaction(1, { n: 1 });
    script.dead(1);
    script.confirmed(1);
    expect(heard.slots).toEqual([]);
  });

  it('that comes before the slot is whole is told when it is', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs('finalized'));
    script.created(1);
    script.transaction(1, { n: 1 });
    script.rooted(1);
    script.transaction(1, { n: 2 });
    expect(heard.slots).toEqual([]);
    script.frozen(1);
    expect(heard.values).toMatchObject([{ signature: signature(1) }, { signature: signature(2) }]);
  });

  it('lets what comes late be told at once', () => {
    const { script, subscribe } = stage();
    const heard = commitments.map((commitment) => subscribe(logs(commitment)));
    play(script, 1);
    script.confirmed(1);
    script.transaction(1, { n: 7 });
    script.rooted(1);
    expect(heard.map(({ slots }) => slots.length)).toEqual([2, 2, 2]);
  });

  it('of followed blocks, whose beginning nobody told, needs no more than the block', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs('confirmed'));
    const shown = subscribe(blocks('confirmed'));
    for (const at of [5, 6]) {
      script.block(block(at, [executed({ n: at })]));
      script.transaction(at, { n: at });
      script.confirmed(at);
    }
    expect(heard.slots).toEqual([5, 6]);
    expect(shown.slots).toEqual([5, 6]);
  });

  it('is not reached by a followed block that the chain left', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs('confirmed'));
    for (const at of [5, 6]) {
      script.block(block(at, [], 4));
      script.transaction(at, { n: at });
    }
    script.confirmed(6);
    expect(heard.slots).toEqual([6]);
  });

  it('finalized reaches confirmed slots on the other side of a gap', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(logs('finalized'));
    play(script, 1);
    script.confirmed(1);
    play(script, 9);
    script.confirmed(9);
    script.rooted(9);
    expect(heard.slots).toEqual([1, 9]);
  });
});

describe('within a slot', () => {
  it('an account is told once, as the slot left it', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(accountOf(1, 'processed'));
    script.created(1);
    script.account(1, 1, { rentEpoch: 1n });
    script.account(1, 1, { rentEpoch: 2n });
    script.processed(1);
    expect(heard.values).toMatchObject([{ rentEpoch: 2 }]);
  });

  it('`processed` is told with each event where that is wanted, the others once a slot', () => {
    const { script, subscribe } = stage({ intraSlot: true });
    const heard = commitments.map((commitment) => subscribe(accountOf(1, commitment)));
    script.created(1);
    script.account(1, 1, { rentEpoch: 1n });
    script.account(1, 1, { rentEpoch: 2n });
    expect(heard[0]?.values).toMatchObject([{ rentEpoch: 1 }, { rentEpoch: 2 }]);
    script.processed(1);
    script.confirmed(1);
    script.rooted(1);
    expect(heard.map(({ values }) => values.length)).toEqual([2, 1, 1]);
  });
});

describe('a subscription', () => {
  it('is heard apart from its equals and ends alone', () => {
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

  it('may end itself and others while it is told', () => {
    const { notifier, script, subscribe } = stage();
    const after = subscribe(logs('processed'));
    const ends: (() => void)[] = [];
    const ending = { onNotification: () => ends.forEach((end) => void end()), onError: () => {} };
    ends.push(notifier.add(logs('processed'), ending), notifier.add(logs('processed'), ending));
    play(script, 1);
    script.processed(1);
    expect(after.slots).toEqual([1]);
  });

  it('that comes in the middle of a slot hears of all of it where everything is kept', () => {
    const { script, subscribe } = stage({ retainUnsubscribed: true });
    play(script, 1);
    const heard = subscribe(logs('finalized'));
    const shown = subscribe(blocks('confirmed'));
    script.rooted(1);
    expect([heard.slots, shown.slots]).toEqual([[1], [1]]);
  });

  it('says which events are wanted', () => {
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
  it.each(commitments)('is told once at %s, and is over with that', (commitment) => {
    const { notifier, script, subscribe } = stage();
    const heard = subscribe(signatureOf(1, commitment));
    play(script, 1);
    script.rooted(1);
    play(script, 2, 1, 1);
    script.rooted(2);
    expect(heard.texts).toEqual(['{"context":{"slot":1},"value":{"err":null}}']);
    expect(heard.isOver).toBe(true);
    expect(notifier.hasSubscribers('signature')).toBe(false);
  });

  it('is said to be received before, once, where that is wanted', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(signatureOf(1, 'confirmed', true));
    const other = subscribe(signatureOf(1, 'confirmed'));
    script.created(1);
    script.received(1, 1);
    script.received(1, 1);
    script.transaction(1, { n: 1, meta: { err: { InstructionError: [0, { Custom: 1 }] } } });
    script.frozen(1);
    script.confirmed(1);
    const outcome = '{"context":{"slot":1},"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}';
    expect(heard.texts).toEqual(['{"context":{"slot":1},"value":"receivedSignature"}', outcome]);
    expect(other.texts).toEqual([outcome]);
  });

  it('is received at the latest when it has run', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(signatureOf(1, 'finalized', true));
    play(script, 1);
    expect(heard.values).toEqual(['receivedSignature']);
  });

  it('that landed before is told with the next bank of its commitment', () => {
    const { script, subscribe } = stage({ statusOf: () => ({ slot: slot(5), err: 'AccountInUse' }) });
    const heard = subscribe(signatureOf(1, 'confirmed'));
    script.processed(9);
    script.confirmed(4);
    expect(heard.texts).toEqual([]);
    script.confirmed(6);
    expect(heard.texts).toEqual(['{"context":{"slot":6},"value":{"err":"AccountInUse"}}']);
    expect(heard.isOver).toBe(true);
  });

  it('that is not known when the next bank comes is waited for', () => {
    let asked = 0;
    const statusOf = () => {
      asked++;
      return null;
    };
    const { script, subscribe } = stage({ statusOf });
    const heard = subscribe(signatureOf(1, 'processed'));
    script.processed(1);
    script.processed(2);
    expect(asked).toBe(1);
    play(script, 3, 2, 1);
    script.processed(3);
    expect(heard.slots).toEqual([3]);
  });

  it('that landed on a dead fork may land again', () => {
    const { script, subscribe } = stage();
    const heard = subscribe(signatureOf(1, 'confirmed'));
    play(script, 1, 0, 1);
    play(script, 2, 0, 1);
    script.confirmed(2);
    expect(heard.slots).toEqual([2]);
  });
});
