import { describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/ledger/units.ts';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import { UpdateMerge } from '../../../src/upstream/geyser-source/update-merge.ts';
import { itemIs, labels, type ModelUpdate, metaIs, slotIs } from './chain-model.ts';

const live = { from: null, tip: null, fillsIn: false, seals: false };
const FAR = 2 ** 40;

function startMerge(limits: { slotsMax?: number; slotUpdatesMax?: number; stallMs?: number } = {}) {
  const told: string[] = [];
  const lost: string[] = [];
  const merge = new UpdateMerge({
    limits: { slotsMax: 512, slotUpdatesMax: 1_000, stallMs: 1_000_000, ...limits },
    listener: {
      tell: (update: RawUpdate) => told.push(labels.get(update) ?? `${update.slot} ${statusOf(update)}`),
      lost: (from, to, kinds) => lost.push(`${from}-${to} ${[...kinds].sort().join(' ')}`),
    },
    onFirst: () => {},
    onWaiting: () => {},
  });
  const of = (slot: number) =>
    told.filter((each) => each.startsWith(`${slot} `)).map((each) => each.slice(`${slot} `.length));
  return { merge, told, lost, of };
}

const statusOf = (update: RawUpdate): string => (update.kind === 'slot' ? update.status : update.kind);
const bank = (slot: number) => slotIs(slot, 'createdBank', slot - 1);
const dead = (slot: number) => slotIs(slot, 'dead', slot - 1);
const write = (slot: number, number: number) => itemIs(slot, { kind: 'written', number }, number + 1);
const ends = (slot: number) => [metaIs(slot, slot - 1), slotIs(slot, 'processed', slot - 1)];
const whole = (slot: number, ...content: ModelUpdate[]) => [bank(slot), ...content, ...ends(slot)];

describe('a server that names a slot far ahead', () => {
  for (const status of ['firstShredReceived', 'createdBank'] as const) {
    it(`does not silence the others, nor itself: ${status}`, () => {
      const { merge, of } = startMerge();
      const [one, other] = [merge.join(live), merge.join(live)];
      for (const each of [one, other]) for (const update of whole(10)) each.take(update);
      other.take(slotIs(FAR, status, FAR - 1));
      for (const update of whole(11, write(11, 1))) other.take(update);
      expect(of(11)).toEqual(['createdBank', 'written 1', 'blockMeta', 'processed']);
      expect(of(FAR)).toEqual([]);
      expect(merge.begun).toBe(11n);
    });
  }

  it('does not keep what comes after it waiting when it tells all of it', () => {
    const { merge, of } = startMerge();
    const [one, other] = [merge.join(live), merge.join(live)];
    for (const update of whole(10)) one.take(update);
    for (const slot of [FAR, FAR + 1]) for (const update of whole(slot)) other.take(update);
    expect(merge.hole(performance.now())).toBe(null);
    for (const update of whole(11)) one.take(update);
    expect(of(11).at(-1)).toBe('processed');
  });

  it('is believed when nobody has told anything nearer for long', () => {
    const { merge, of } = startMerge({ stallMs: -1 });
    const one = merge.join(live);
    for (const update of whole(10)) one.take(update);
    for (const slot of [FAR, FAR + 1, FAR + 2]) for (const update of whole(slot)) one.take(update);
    expect(of(FAR)).toEqual([]);
    merge.giveUp(merge.hole(performance.now())!);
    expect(of(FAR + 2).at(-1)).toBe('processed');
  });

  it('costs no more than a while when it was the first that was heard', () => {
    const { merge, of } = startMerge({ stallMs: -1 });
    const one = merge.join(live);
    one.take(bank(FAR));
    for (const slot of [10, 11, 12]) for (const update of whole(slot)) one.take(update);
    expect(of(12).at(-1)).toBe('processed');
    expect(merge.newest).toBe(12n);
  });
});

describe('a slot that dies on two servers', () => {
  it('is told dead when the faster one begins it again, and nothing of the dead version any more', () => {
    const { merge, of } = startMerge();
    const [one, other, slow] = [merge.join(live), merge.join(live), merge.join(live)];
    for (const each of [one, other, slow]) for (const update of whole(10)) each.take(update);
    for (const each of [one, other]) for (const update of [bank(11), write(11, 1)]) each.take(update);
    for (const update of [dead(11), bank(11), write(11, 4)]) one.take(update);
    other.take(write(11, 2));
    for (const update of [bank(11), write(11, 1), write(11, 2), write(11, 5), dead(11)]) slow.take(update);
    for (const update of [dead(11), bank(11), write(11, 4), write(11, 7)]) other.take(update);
    for (const update of [write(11, 7), ...ends(11)]) one.take(update);
    for (const update of [bank(11), write(11, 4), write(11, 7), ...ends(11)]) slow.take(update);
    expect(of(11)).toEqual([
      ...['createdBank', 'written 1', 'dead'],
      ...['createdBank', 'written 4', 'written 7', 'blockMeta', 'processed'],
    ]);
  });

  it('is begun once more by the one that has it whole when the other leaves in the middle', () => {
    const { merge, of } = startMerge();
    const [one, other] = [merge.join(live), merge.join(live)];
    for (const each of [one, other]) for (const update of whole(10)) each.take(update);
    for (const update of [bank(11), dead(11), bank(11), write(11, 4)]) one.take(update);
    merge.leave(one);
    for (const update of whole(11, write(11, 4), write(11, 7))) other.take(update);
    expect(of(11)).toEqual([
      ...['createdBank', 'dead', 'createdBank', 'written 4', 'dead'],
      ...['createdBank', 'written 4', 'written 7', 'blockMeta', 'processed'],
    ]);
  });
});

describe('writes of one account', () => {
  it('are told in order while one server has taken a wider request and the other not yet', () => {
    const { merge, of } = startMerge();
    const [narrow, wide] = [merge.join(live), merge.join(live)];
    for (const each of [narrow, wide]) for (const update of whole(10)) each.take(update);
    narrow.asked('narrow');
    wide.asked('wide');
    for (const update of [bank(11), write(11, 3)]) narrow.take(update);
    for (const update of [bank(11), write(11, 0), write(11, 3), write(11, 6)]) wide.take(update);
    for (const update of [write(11, 9), ...ends(11)]) narrow.take(update);
    for (const update of [write(11, 9), ...ends(11)]) wide.take(update);
    expect(of(11).filter((each) => each.startsWith('written'))).toEqual([
      'written 3',
      'written 6',
      'written 9',
    ]);
  });

  it('end with the last one when an older one is told with a replay', () => {
    const { merge, of } = startMerge();
    const one = merge.join(live);
    for (const update of [...whole(10), ...whole(11, write(11, 3))]) one.take(update);
    const replay = merge.join({ ...live, from: 10n as Slot, tip: 11n as Slot, fillsIn: true });
    for (const update of [...whole(10), ...whole(11, write(11, 0), write(11, 3), write(11, 1))])
      replay.take(update);
    const content = of(11).filter((each) => each.startsWith('written'));
    expect(content).toEqual(['written 3', 'written 0', 'written 3', 'written 1']);
  });

  it('end with the last one when another server, asked for more, goes on for one that has left', () => {
    const { merge, of } = startMerge();
    const [narrow, wide] = [merge.join(live), merge.join(live)];
    for (const each of [narrow, wide]) for (const update of whole(10)) each.take(update);
    narrow.asked('narrow');
    wide.asked('wide');
    for (const update of [bank(11), write(11, 3)]) narrow.take(update);
    merge.leave(narrow);
    for (const update of whole(11, write(11, 0), write(11, 3))) wide.take(update);
    expect(of(11).filter((each) => each.startsWith('written'))).toEqual([
      'written 3',
      'written 0',
      'written 3',
    ]);
  });

  it('are told once where two servers are always asked for different ones', () => {
    const { merge, of } = startMerge();
    const [narrow, wide] = [merge.join(live), merge.join(live)];
    narrow.asked('narrow');
    wide.asked('wide');
    for (const each of [narrow, wide]) for (const update of whole(10)) each.take(update);
    for (const each of [wide, narrow]) each.take(bank(11));
    for (const number of [0, 3, 6]) wide.take(write(11, number));
    for (const number of [3, 6, 9, 12]) narrow.take(write(11, number));
    for (const number of [9, 12, 15]) wide.take(write(11, number));
    expect(of(11).slice(1)).toEqual([0, 3, 6, 9, 12, 15].map((number) => `written ${number}`));
  });
});

describe('what is more than may be remembered', () => {
  it('is told still, if more than once', () => {
    const { merge, of } = startMerge({ slotUpdatesMax: 3 });
    const one = merge.join(live);
    const entry = (number: number) => itemIs(10, { kind: 'entry', number }, 1);
    const numbers = [1, 2, 3, 4, 5];
    const content = numbers.flatMap((number) => [write(10, number), entry(number)]);
    for (const update of whole(10, ...content)) one.take(update);
    expect(of(10)).toEqual([
      'createdBank',
      ...numbers.flatMap((number) => [`written ${number}`, `entry ${number}`]),
      ...['blockMeta', 'processed'],
    ]);
  });

  it('is said to be lost where it is a slot that waits, and those behind it go on', () => {
    const { merge, told, lost } = startMerge({ slotsMax: 4 });
    const one = merge.join(live);
    for (const slot of [10, 12, 13, 14, 15]) for (const update of whole(slot)) one.take(update);
    expect(lost).toEqual([]);
    for (const update of whole(16)) one.take(update);
    expect(lost).toEqual(['12-12 account blockMeta entry slot transaction']);
    expect(told.slice(-2)).toEqual(['16 blockMeta', '16 processed']);
  });
});
