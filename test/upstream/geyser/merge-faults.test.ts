import { describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/solana/units.ts';
import { itemIs, type ModelUpdate, metaIs, slotIs } from './chain-model.ts';
import {
  bank,
  dead,
  emittedCount,
  ends,
  fullRequest,
  live,
  PolledHead,
  sendSlots,
  startMerge,
  whole,
  write,
} from './merge-stage.ts';

const FAR = 2 ** 40;

describe('a server that reports a slot far ahead', () => {
  for (const status of ['firstShredReceived', 'createdBank'] as const) {
    it(`suppresses neither its own updates nor those of other servers: ${status}`, () => {
      const { merge, of } = startMerge();
      const [one, other] = [merge.addReader(live), merge.addReader(live)];
      for (const each of [one, other]) for (const update of whole(10)) each.handleUpdate(update);
      other.handleUpdate(slotIs(FAR, status, FAR - 1));
      for (const update of whole(11, write(11, 1))) other.handleUpdate(update);
      expect(of(11)).toEqual(['createdBank', 'written 1', 'blockMeta', 'processed']);
      expect(of(FAR)).toEqual([]);
      expect(merge.newestStarted).toBe(11n);
    });
  }
});

describe('a server that runs ahead of the others', () => {
  for (const [manner, step] of [
    ['in large steps', 400],
    ['slot by slot', 1],
  ] as const) {
    it(`is emitted at most half a minute ahead of the polled nodes: ${manner}`, () => {
      const now = new PolledHead(1_009);
      const { merge, emitted, of, lost } = startMerge({}, now.head);
      const [honest, other] = [merge.addReader(live), merge.addReader(live)];
      sendSlots(honest, 1_000, 1_009);
      sendSlots(other, 1_009 + step, 1_009 + step * 3_000, step);
      expect(emittedCount(emitted, 1_010, 1e9)).toBeLessThan(200);
      for (let slot = 1_010; slot <= 4_000; slot++) {
        now.slot = slot;
        for (const update of whole(slot, write(slot, 1))) honest.handleUpdate(update);
        for (const update of whole(slot + 3_000)) other.handleUpdate(update);
      }
      expect(of(3_999)).toEqual(['createdBank', 'written 1', 'blockMeta', 'processed']);
      expect(emittedCount(emitted, 1_010, 4_000)).toBe(2_991);
      expect(lost).toEqual([]);
    });
  }

  it('causes no gap and no finalized status for slots that the chain has not reached', () => {
    const now = new PolledHead(1_009);
    const { merge, of } = startMerge({ stallMs: -1 }, now.head);
    const [honest, other] = [merge.addReader(live), merge.addReader(live)];
    sendSlots(honest, 1_000, 1_009);
    sendSlots(other, 1_060, 1_060);
    for (const update of [bank(1_050), metaIs(1_050, 1_009), slotIs(1_050, 'processed', 1_009)]) {
      other.handleUpdate(update);
    }
    for (const slot of [1_050, 1_060]) other.handleUpdate(slotIs(slot, 'finalized', slot - 1));
    expect(merge.missingRange(performance.now())).toBe(null);
    expect(of(1_050)).toEqual(['createdBank', 'blockMeta', 'processed']);
    sendSlots(honest, 1_010, 1_059);
    expect([of(1_059).at(-1), of(1_060).at(-1)]).toEqual(['processed', 'processed']);
  });

  it('has its slots evicted before those of the others when too many slots are open', () => {
    const now = new PolledHead(1_009);
    const { merge, of } = startMerge({ slotsMax: 8 }, now.head);
    const [honest, other] = [merge.addReader(live), merge.addReader(live)];
    sendSlots(honest, 1_000, 1_007);
    for (let slot = 1_030; slot < 1_060; slot++) other.handleUpdate(bank(slot));
    sendSlots(honest, 1_008, 1_012);
    expect(of(1_012).at(-1)).toBe('processed');
  });

  it('is outvoted by polled nodes and another server', () => {
    const now = new PolledHead(1_009);
    const { merge, of, lost } = startMerge({ stallMs: -1 }, now.head);
    const other = merge.addReader(live);
    sendSlots(other, 50_000, 51_000);
    const honest = merge.addReader(live);
    sendSlots(honest, 1_008, 1_010);
    sendSlots(other, 51_001, 51_010);
    sendSlots(honest, 1_011, 1_012);
    expect(lost).toEqual(['all']);
    expect(of(1_012).at(-1)).toBe('processed');
    expect(of(51_010)).toEqual([]);
  });
});

describe('a slot that dies on two servers', () => {
  it('is emitted as dead when the faster server restarts it; other dead versions are dropped', () => {
    const { merge, of } = startMerge();
    const [one, other, slow] = [merge.addReader(live), merge.addReader(live), merge.addReader(live)];
    for (const each of [one, other, slow]) for (const update of whole(10)) each.handleUpdate(update);
    for (const each of [one, other]) for (const update of [bank(11), write(11, 1)]) each.handleUpdate(update);
    for (const update of [dead(11), bank(11), write(11, 4)]) one.handleUpdate(update);
    other.handleUpdate(write(11, 2));
    for (const update of [bank(11), write(11, 1), write(11, 2), write(11, 5), dead(11)])
      slow.handleUpdate(update);
    for (const update of [dead(11), bank(11), write(11, 4), write(11, 7)]) other.handleUpdate(update);
    for (const update of [write(11, 7), ...ends(11)]) one.handleUpdate(update);
    for (const update of [bank(11), write(11, 4), write(11, 7), ...ends(11)]) slow.handleUpdate(update);
    expect(of(11)).toEqual([
      ...['createdBank', 'written 1', 'dead'],
      ...['createdBank', 'written 4', 'written 7', 'blockMeta', 'processed'],
    ]);
  });
});

describe('writes of one account', () => {
  it('stay in order while only one server has accepted a wider request', () => {
    const { merge, of } = startMerge();
    const [narrow, wide] = [merge.addReader(live), merge.addReader(live)];
    for (const each of [narrow, wide]) for (const update of whole(10)) each.handleUpdate(update);
    narrow.setRequest({ key: 'narrow', unfiltered: new Set() });
    wide.setRequest({ key: 'wide', unfiltered: new Set() });
    for (const update of [bank(11), write(11, 3)]) narrow.handleUpdate(update);
    for (const update of [bank(11), write(11, 0), write(11, 3), write(11, 6)]) wide.handleUpdate(update);
    for (const update of [write(11, 9), ...ends(11)]) narrow.handleUpdate(update);
    for (const update of [write(11, 9), ...ends(11)]) wide.handleUpdate(update);
    expect(of(11).filter((each) => each.startsWith('written'))).toEqual([
      'written 3',
      'written 6',
      'written 9',
    ]);
  });

  it('end with the newest one after a replay that contains an older one', () => {
    const { merge, of } = startMerge();
    const one = merge.addReader(live);
    for (const update of [...whole(10), ...whole(11, write(11, 3))]) one.handleUpdate(update);
    const replay = merge.addReader({ ...live, from: 10n as Slot, tip: 11n as Slot, fillsIn: true });
    for (const update of [...whole(10), ...whole(11, write(11, 0), write(11, 3), write(11, 1))])
      replay.handleUpdate(update);
    const content = of(11).filter((each) => each.startsWith('written'));
    expect(content).toEqual(['written 3', 'written 0', 'written 3', 'written 1']);
  });
});

describe('a slot of which every server lacks transactions or entries', () => {
  const transaction = (number: number) => itemIs(11, { kind: 'transaction', number }, 1);
  const entry = (slot: number, number: number) => itemIs(slot, { kind: 'entry', number }, 1);
  const counted = [metaIs(11, 10, { transactions: 2, entries: 1 }), slotIs(11, 'processed', 10)];
  const partOf = (...content: ModelUpdate[]) => [bank(11), ...content, ...counted];

  const complete = (slot: number) => [
    ...[bank(slot), entry(slot, 0), metaIs(slot, slot - 1, { entries: 1 })],
    slotIs(slot, 'processed', slot - 1),
  ];

  function startServer(request: typeof fullRequest) {
    const stage = startMerge({ stallMs: -1 });
    const server = stage.merge.addReader(live);
    server.setRequest(request);
    for (const update of complete(10)) server.handleUpdate(update);
    return { ...stage, server };
  }

  it('is missing until they arrive, from any server', () => {
    const { merge, of, server } = startServer(fullRequest);
    for (const update of [...partOf(transaction(1)), ...complete(12)]) server.handleUpdate(update);
    expect(of(11)).toEqual(['createdBank', 'transaction 1']);
    expect(merge.missingRange(performance.now())).toEqual({ from: 11n, to: 11n });
    const replay = merge.addReader({ ...live, from: 11n as Slot, tip: 11n as Slot });
    replay.setRequest(fullRequest);
    for (const update of partOf(transaction(2))) replay.handleUpdate(update);
    expect(of(11).at(-1)).toBe('transaction 2');
    replay.handleUpdate(entry(11, 0));
    expect(of(11).slice(-3)).toEqual(['entry 0', 'blockMeta', 'processed']);
    expect(of(12).at(-1)).toBe('processed');
  });

  it('waits for earlier entries, and for confirmation if its leader sends it without their number', () => {
    const { of, server } = startServer(fullRequest);
    const uncounted = [metaIs(11, 10), slotIs(11, 'processed', 10)];
    for (const update of [bank(11), entry(11, 1), ...uncounted]) server.handleUpdate(update);
    server.handleUpdate(slotIs(11, 'confirmed', 10));
    expect(of(11)).toEqual(['createdBank', 'entry 1']);
    server.handleUpdate(entry(11, 0));
    expect(of(11).slice(2)).toEqual(['entry 0', 'blockMeta', 'processed', 'confirmed']);
    for (const update of [bank(12), entry(12, 0), metaIs(12, 11), slotIs(12, 'processed', 11), entry(12, 1)])
      server.handleUpdate(update);
    server.handleUpdate(slotIs(12, 'confirmed', 11));
    expect(of(12)).toEqual(['createdBank', 'entry 0', 'entry 1', 'blockMeta', 'processed', 'confirmed']);
  });

  it('is complete if the request has filters, because the number of matches is unknown', () => {
    const { of, server } = startServer({ key: 'filtered', unfiltered: new Set() });
    for (const update of partOf(transaction(1))) server.handleUpdate(update);
    expect(of(11).at(-1)).toBe('processed');
  });

  it('is complete if the counts of the server have been wrong for eight slots', () => {
    const { merge, of, server } = startServer(fullRequest);
    for (let slot = 11; slot <= 20; slot++) {
      const only = itemIs(slot, { kind: 'transaction', number: 1 }, 1);
      const end = [metaIs(slot, slot - 1, { transactions: 2 }), slotIs(slot, 'processed', slot - 1)];
      for (const update of [bank(slot), only, ...end, slotIs(slot, 'confirmed', slot - 1)])
        server.handleUpdate(update);
    }
    expect(of(20)).toEqual(['createdBank', 'transaction 1']);
    merge.giveUp({ from: 11n as Slot, to: 18n as Slot });
    expect([of(19).at(-1), of(20).slice(-2)]).toEqual(['confirmed', ['processed', 'confirmed']]);
  });
});

describe('updates beyond the limits', () => {
  it('are reported as lost for the slot that waits, and later slots continue', () => {
    const { merge, emitted, lost } = startMerge({ slotsMax: 4 });
    const one = merge.addReader(live);
    for (const slot of [10, 12, 13, 14, 15]) for (const update of whole(slot)) one.handleUpdate(update);
    expect(lost).toEqual([]);
    for (const update of whole(16)) one.handleUpdate(update);
    expect(lost).toEqual(['12-12 account blockMeta entry slot transaction']);
    expect(emitted.slice(-2)).toEqual(['16 blockMeta', '16 processed']);
  });
});
