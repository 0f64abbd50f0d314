import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import type { Slot } from '../../../src/solana/units.ts';
import type { StreamReader } from '../../../src/upstream/geyser/stream-reader.ts';
import { UpdateMerge } from '../../../src/upstream/geyser/update-merge.ts';
import type { ObservedSlot } from '../../../src/upstream/slots/slot-tracker.ts';
import { itemIs, labels, type ModelUpdate, metaIs, slotIs } from './chain-model.ts';

/** A merge that records its output, with servers that send slot by slot. */

/** A request for all transactions and entries. */
export const fullRequest = { key: 'full', unfiltered: new Set(['transaction', 'entry'] as const) };

export const live = { from: null, tip: null, fillsIn: false, seals: false };

export function startMerge(
  limits: { slotsMax?: number; slotUpdatesMax?: number; stallMs?: number } = {},
  head?: () => ObservedSlot | null,
) {
  const emitted: string[] = [];
  const lost: string[] = [];
  const merge = new UpdateMerge({
    limits: { slotsMax: 512, slotUpdatesMax: 1_000, stallMs: 1_000_000, ...limits },
    listener: {
      onUpdate: (update: RawUpdate) =>
        emitted.push(labels.get(update) ?? `${update.slot} ${statusOf(update)}`),
      onLost: (from, to, kinds) => lost.push(`${from}-${to} ${[...kinds].sort().join(' ')}`),
      onReset: () => lost.push('all'),
    },
    ...(head === undefined ? {} : { head }),
    onStart: () => {},
    onWaiting: () => {},
  });
  const of = (slot: number) =>
    emitted.filter((each) => each.startsWith(`${slot} `)).map((each) => each.slice(`${slot} `.length));
  return { merge, emitted, lost, of };
}

const statusOf = (update: RawUpdate): string => (update.kind === 'slot' ? update.status : update.kind);
export const bank = (slot: number) => slotIs(slot, 'createdBank', slot - 1);
export const dead = (slot: number) => slotIs(slot, 'dead', slot - 1);
export const write = (slot: number, number: number) => itemIs(slot, { kind: 'written', number }, number + 1);
export const ends = (slot: number) => [metaIs(slot, slot - 1), slotIs(slot, 'processed', slot - 1)];
export const whole = (slot: number, ...content: ModelUpdate[]) => [bank(slot), ...content, ...ends(slot)];

/** Sends complete slots in order. */
export function sendSlots(reader: StreamReader, from: number, to: number, step = 1): void {
  for (let slot = from; slot <= to; slot += step)
    for (const update of whole(slot)) reader.handleUpdate(update);
}

/** The chain head that polled nodes report at the moment. */
export class PolledHead {
  slot: number;

  constructor(slot: number) {
    this.slot = slot;
  }

  readonly head = (): ObservedSlot => ({ slot: BigInt(this.slot) as Slot, atMs: performance.now() });

  readonly advance = (slot: number): void => {
    this.slot = Math.max(this.slot, slot);
  };
}

/** Counts the completely emitted slots of a range, including repetitions. */
export const emittedCount = (emitted: readonly string[], from: number, to: number): number =>
  emitted.filter((line) => {
    const [slot, status] = line.split(' ');
    return status === 'processed' && Number(slot) >= from && Number(slot) <= to;
  }).length;
