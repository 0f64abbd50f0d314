import { describe, expect, it } from 'vitest';
import { accountOf, blocks, logs, play, signatureOf, stage } from '../../test/streams/notifier-stage.ts';
import { block, executed, Heard, signature } from '../../test/streams/told-ledger.ts';
import { slot } from '../ledger/units.ts';
import { commitments } from '../protocol/commitment.ts';

describe('a commitment', () => {
  it('is waited for', () => {
    const { story, hear } = stage();
    const heard = commitments.map((commitment) => hear(accountOf(1, commitment)));
    const told = () => heard.map(({ slots }) => slots.length);
    play(story, 1);
    expect(told()).toEqual([0, 0, 0]);
    story.processed(1);
    expect(told()).toEqual([1, 0, 0]);
    story.confirmed(1);
    expect(told()).toEqual([1, 1, 0]);
    story.rooted(1);
    expect(told()).toEqual([1, 1, 1]);
  });

  it.each(['confirmed', 'rooted'] as const)('%s tells the slots below it, oldest first, once', (kind) => {
    const { story, hear } = stage();
    const heard = hear(logs(kind === 'confirmed' ? 'confirmed' : 'finalized'));
    for (const at of [1, 2, 3, 4]) play(story, at);
    story[kind](3);
    story[kind](2);
    story[kind](4);
    story[kind](4);
    expect(heard.slots).toEqual([1, 2, 3, 4]);
  });

  it('implies those below it', () => {
    const { story, hear } = stage();
    const heard = commitments.map((commitment) => hear(logs(commitment)));
    play(story, 1);
    play(story, 2);
    story.rooted(2);
    expect(heard.map(({ slots }) => slots)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('is not reached by another fork', () => {
    const { story, hear } = stage();
    const confirmed = hear(logs('confirmed'));
    const finalized = hear(logs('finalized'));
    play(story, 1);
    play(story, 2, 1);
    play(story, 3, 1);
    play(story, 4, 3);
    story.confirmed(4);
    story.rooted(4);
    expect(confirmed.slots).toEqual([1, 3, 4]);
    expect(finalized.slots).toEqual([1, 3, 4]);
  });

  it('is never reached by a dead slot', () => {
    const { story, hear } = stage();
    const heard = hear(logs('confirmed'));
    story.created(1);
    story.transaction(1, { n: 1 });
    story.dead(1);
    story.confirmed(1);
    expect(heard.slots).toEqual([]);
  });

  it('that comes before the slot is whole is told when it is', () => {
    const { story, hear } = stage();
    const heard = hear(logs('finalized'));
    story.created(1);
    story.transaction(1, { n: 1 });
    story.rooted(1);
    story.transaction(1, { n: 2 });
    expect(heard.slots).toEqual([]);
    story.frozen(1);
    expect(heard.values).toMatchObject([{ signature: signature(1) }, { signature: signature(2) }]);
  });

  it('lets what comes late be told at once', () => {
    const { story, hear } = stage();
    const heard = commitments.map((commitment) => hear(logs(commitment)));
    play(story, 1);
    story.confirmed(1);
    story.transaction(1, { n: 7 });
    story.rooted(1);
    expect(heard.map(({ slots }) => slots.length)).toEqual([2, 2, 2]);
  });

  it('of followed blocks, whose beginning nobody told, needs no more than the block', () => {
    const { story, hear } = stage();
    const heard = hear(logs('confirmed'));
    const shown = hear(blocks('confirmed'));
    for (const at of [5, 6]) {
      story.block(block(at, [executed({ n: at })]));
      story.transaction(at, { n: at });
      story.confirmed(at);
    }
    expect(heard.slots).toEqual([5, 6]);
    expect(shown.slots).toEqual([5, 6]);
  });

  it('is not reached by a followed block that the chain left', () => {
    const { story, hear } = stage();
    const heard = hear(logs('confirmed'));
    for (const at of [5, 6]) {
      story.block(block(at, [], 4));
      story.transaction(at, { n: at });
    }
    story.confirmed(6);
    expect(heard.slots).toEqual([6]);
  });

  it('finalized reaches confirmed slots on the other side of a gap', () => {
    const { story, hear } = stage();
    const heard = hear(logs('finalized'));
    play(story, 1);
    story.confirmed(1);
    play(story, 9);
    story.confirmed(9);
    story.rooted(9);
    expect(heard.slots).toEqual([1, 9]);
  });
});

describe('within a slot', () => {
  it('an account is told once, as the slot left it', () => {
    const { story, hear } = stage();
    const heard = hear(accountOf(1, 'processed'));
    story.created(1);
    story.account(1, 1, { rentEpoch: 1n });
    story.account(1, 1, { rentEpoch: 2n });
    story.processed(1);
    expect(heard.values).toMatchObject([{ rentEpoch: 2 }]);
  });

  it('`processed` is told with each event where that is wanted, the others once a slot', () => {
    const { story, hear } = stage({ intraSlot: true });
    const heard = commitments.map((commitment) => hear(accountOf(1, commitment)));
    story.created(1);
    story.account(1, 1, { rentEpoch: 1n });
    story.account(1, 1, { rentEpoch: 2n });
    expect(heard[0]?.values).toMatchObject([{ rentEpoch: 1 }, { rentEpoch: 2 }]);
    story.processed(1);
    story.confirmed(1);
    story.rooted(1);
    expect(heard.map(({ values }) => values.length)).toEqual([2, 1, 1]);
  });
});

describe('a subscription', () => {
  it('is heard apart from its equals and ends alone', () => {
    const { notifier, story, hear } = stage();
    const one = new Heard();
    const end = notifier.add(accountOf(1, 'processed'), one);
    const other = hear(accountOf(1, 'processed'));
    play(story, 1);
    story.processed(1);
    end();
    end();
    play(story, 2);
    story.processed(2);
    expect([one.slots, other.slots]).toEqual([[1], [1, 2]]);
  });

  it('may end itself and others while it is told', () => {
    const { notifier, story, hear } = stage();
    const after = hear(logs('processed'));
    const ends: (() => void)[] = [];
    const ending = { notify: () => ends.forEach((end) => void end()), fail: () => {} };
    ends.push(notifier.add(logs('processed'), ending), notifier.add(logs('processed'), ending));
    play(story, 1);
    story.processed(1);
    expect(after.slots).toEqual([1]);
  });

  it('that comes in the middle of a slot hears of all of it where everything is kept', () => {
    const { story, hear } = stage({ keepUnwanted: true });
    play(story, 1);
    const heard = hear(logs('finalized'));
    const shown = hear(blocks('confirmed'));
    story.rooted(1);
    expect([heard.slots, shown.slots]).toEqual([[1], [1]]);
  });

  it('says which events are wanted', () => {
    const { notifier } = stage();
    expect(notifier.wants('account')).toBe(false);
    const end = notifier.add(accountOf(1, 'finalized'), new Heard());
    const endSlots = notifier.add({ kind: 'slot' }, new Heard());
    expect([notifier.wants('account'), notifier.wants('slot'), notifier.wants('block')]).toEqual([
      true,
      true,
      false,
    ]);
    end();
    endSlots();
    expect([notifier.wants('account'), notifier.wants('slot')]).toEqual([false, false]);
  });
});

describe('a signature', () => {
  it.each(commitments)('is told once at %s, and is over with that', (commitment) => {
    const { notifier, story, hear } = stage();
    const heard = hear(signatureOf(1, commitment));
    play(story, 1);
    story.rooted(1);
    play(story, 2, 1, 1);
    story.rooted(2);
    expect(heard.texts).toEqual(['{"context":{"slot":1},"value":{"err":null}}']);
    expect(heard.isOver).toBe(true);
    expect(notifier.wants('signature')).toBe(false);
  });

  it('is said to be received before, once, where that is wanted', () => {
    const { story, hear } = stage();
    const heard = hear(signatureOf(1, 'confirmed', true));
    const other = hear(signatureOf(1, 'confirmed'));
    story.created(1);
    story.received(1, 1);
    story.received(1, 1);
    story.transaction(1, { n: 1, meta: { err: { InstructionError: [0, { Custom: 1 }] } } });
    story.frozen(1);
    story.confirmed(1);
    const outcome = '{"context":{"slot":1},"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}';
    expect(heard.texts).toEqual(['{"context":{"slot":1},"value":"receivedSignature"}', outcome]);
    expect(other.texts).toEqual([outcome]);
  });

  it('is received at the latest when it has run', () => {
    const { story, hear } = stage();
    const heard = hear(signatureOf(1, 'finalized', true));
    play(story, 1);
    expect(heard.values).toEqual(['receivedSignature']);
  });

  it('that landed before is told with the next bank of its commitment', () => {
    const { story, hear } = stage({ statusOf: () => ({ slot: slot(5), err: 'AccountInUse' }) });
    const heard = hear(signatureOf(1, 'confirmed'));
    story.processed(9);
    story.confirmed(4);
    expect(heard.texts).toEqual([]);
    story.confirmed(6);
    expect(heard.texts).toEqual(['{"context":{"slot":6},"value":{"err":"AccountInUse"}}']);
    expect(heard.isOver).toBe(true);
  });

  it('that is not known when the next bank comes is waited for', () => {
    let asked = 0;
    const statusOf = () => {
      asked++;
      return null;
    };
    const { story, hear } = stage({ statusOf });
    const heard = hear(signatureOf(1, 'processed'));
    story.processed(1);
    story.processed(2);
    expect(asked).toBe(1);
    play(story, 3, 2, 1);
    story.processed(3);
    expect(heard.slots).toEqual([3]);
  });

  it('that landed on a dead fork may land again', () => {
    const { story, hear } = stage();
    const heard = hear(signatureOf(1, 'confirmed'));
    play(story, 1, 0, 1);
    play(story, 2, 0, 1);
    story.confirmed(2);
    expect(heard.slots).toEqual([2]);
  });
});
