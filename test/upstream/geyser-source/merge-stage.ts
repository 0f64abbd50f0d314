import type { Slot } from '../../../src/ledger/units.ts';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import type { Teller } from '../../../src/upstream/geyser-source/teller.ts';
import { UpdateMerge } from '../../../src/upstream/geyser-source/update-merge.ts';
import type { KnownSlot } from '../../../src/upstream/known-slots.ts';
import { itemIs, labels, type ModelUpdate, metaIs, slotIs } from './chain-model.ts';

/** A merge whose telling is kept, and streams of servers that tell slot by slot. */

export const live = { from: null, tip: null, fillsIn: false, seals: false };

export function startMerge(
  limits: { slotsMax?: number; slotUpdatesMax?: number; stallMs?: number } = {},
  head?: () => KnownSlot | null,
) {
  const told: string[] = [];
  const lost: string[] = [];
  const merge = new UpdateMerge({
    limits: { slotsMax: 512, slotUpdatesMax: 1_000, stallMs: 1_000_000, ...limits },
    listener: {
      tell: (update: RawUpdate) => told.push(labels.get(update) ?? `${update.slot} ${statusOf(update)}`),
      lost: (from, to, kinds) => lost.push(`${from}-${to} ${[...kinds].sort().join(' ')}`),
      startOver: () => lost.push('all'),
    },
    ...(head === undefined ? {} : { head }),
    onFirst: () => {},
    onWaiting: () => {},
  });
  const of = (slot: number) =>
    told.filter((each) => each.startsWith(`${slot} `)).map((each) => each.slice(`${slot} `.length));
  return { merge, told, lost, of };
}

const statusOf = (update: RawUpdate): string => (update.kind === 'slot' ? update.status : update.kind);
export const bank = (slot: number) => slotIs(slot, 'createdBank', slot - 1);
export const dead = (slot: number) => slotIs(slot, 'dead', slot - 1);
export const write = (slot: number, number: number) => itemIs(slot, { kind: 'written', number }, number + 1);
export const ends = (slot: number) => [metaIs(slot, slot - 1), slotIs(slot, 'processed', slot - 1)];
export const whole = (slot: number, ...content: ModelUpdate[]) => [bank(slot), ...content, ...ends(slot)];

/** Tells slots whole, one behind the other. */
export function walk(teller: Teller, from: number, to: number, step = 1): void {
  for (let slot = from; slot <= to; slot += step) for (const update of whole(slot)) teller.take(update);
}

/** A head as nodes that are polled tell it, just now. */
export class Polled {
  slot: number;

  constructor(slot: number) {
    this.slot = slot;
  }

  readonly head = (): KnownSlot => ({ slot: BigInt(this.slot) as Slot, atMs: performance.now() });

  readonly reach = (slot: number): void => {
    this.slot = Math.max(this.slot, slot);
  };
}

/** How many slots of a range were told whole; of each time that one was. */
export const toldOf = (told: readonly string[], from: number, to: number): number =>
  told.filter((line) => {
    const [slot, status] = line.split(' ');
    return status === 'processed' && Number(slot) >= from && Number(slot) <= to;
  }).length;
