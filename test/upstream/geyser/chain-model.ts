import { createHash } from 'node:crypto';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import type { RawBlockCounts } from '../../../src/protocol/geyser/read-raw-update.ts';
import type { SlotStatus } from '../../../src/protocol/geyser/update/slot.ts';
import { slot as slotOf } from '../../../src/solana/units.ts';

/** Minimal labeled updates, and a chain whose servers send them in different orders. */

const none = new Uint8Array();

const bytesOf = (name: string, length: number): Uint8Array =>
  createHash('sha512').update(name).digest().subarray(0, length);

export const labels = new WeakMap<RawUpdate, string>();

export function slotIs(slot: number, status: SlotStatus, parent: number): RawUpdate {
  const update: RawUpdate = {
    kind: 'slot',
    slot: slotOf(slot),
    parent: slotOf(parent),
    status,
    deadError: null,
    tail: none,
    createdAt: none,
  };
  labels.set(update, `${slot} ${status}`);
  return update;
}

export type Item = Readonly<{ kind: 'transaction' | 'written' | 'own' | 'entry'; number: number }>;

/** @param version - write version of the node. */
export function itemIs(slot: number, { kind, number }: Item, version: number): RawUpdate {
  const common = { slot: slotOf(slot), tail: none, createdAt: none };
  const account = {
    ...common,
    kind: 'account' as const,
    info: none,
    owner: none,
    lamports: 1n as never,
    data: none,
    isStartup: false,
    writeVersion: BigInt(version),
  };
  const updates: Record<Item['kind'], () => RawUpdate> = {
    transaction: () => ({
      ...common,
      kind: 'transaction',
      info: none,
      signature: bytesOf(`${slot} ${number}`, 64),
      isVote: false,
      index: number,
      err: null,
      keys: { bytes: none, offsets: [] },
      meta: none,
    }),
    // Three accounts, each written repeatedly.
    written: () => ({
      ...account,
      address: bytesOf(`account ${number % 3}`, 32),
      signature: bytesOf(`${slot} ${number}`, 64),
    }),
    own: () => ({ ...account, address: bytesOf(`own ${number % 2}`, 32), signature: null }),
    entry: () => ({ ...common, kind: 'entry', message: none, index: number }),
  };
  const update = updates[kind]();
  labels.set(update, `${slot} ${kind} ${number}`);
  return update;
}

export function metaIs(
  slot: number,
  parent: number,
  { blockhash = '', transactions = 0, entries = 0 } = {},
): RawUpdate {
  const update: RawUpdate = {
    kind: 'blockMeta',
    slot: slotOf(slot),
    parentSlot: slotOf(parent),
    tail: none,
    createdAt: none,
    message: none,
    blockhash,
    blockHeight: null,
    executedTransactionCount: transactions,
    entriesCount: entries,
    updatedAccountCount: null,
  };
  labels.set(update, `${slot} blockMeta`);
  return update;
}

export type ModelSlot = Readonly<{
  slot: number;
  parent: number;
  /** Items of an earlier version of the slot that died; null if none. */
  deadItems: readonly Item[] | null;
  items: readonly Item[];
}>;

export type ModelUpdate = RawUpdate | RawBlockCounts;

/** All updates of a server, with its own write versions; statuses of older slots are interleaved. */
export function updatesOf(
  chain: readonly ModelSlot[],
  firstVersion: number,
  isReordered: boolean,
): ModelUpdate[] {
  let version = firstVersion;
  const updates: ModelUpdate[] = [];
  for (const [at, { slot, parent, deadItems, items }] of chain.entries()) {
    if (deadItems !== null) {
      updates.push(slotIs(slot, 'createdBank', parent));
      updates.push(...deadItems.map((item) => itemIs(slot, item, version++)), slotIs(slot, 'dead', parent));
    }
    updates.push(slotIs(slot, 'createdBank', parent));
    // Account writes are ordered; transactions may arrive in any order.
    const writes = items.filter(({ kind }) => kind === 'written' || kind === 'own');
    const others = items.filter(({ kind }) => kind !== 'written' && kind !== 'own');
    const order = isReordered ? [...others.reverse(), ...writes] : [...writes, ...others];
    const content = order.map((item) => itemIs(slot, item, version++));
    const countOf = (kind: Item['kind']): number => items.filter((item) => item.kind === kind).length;
    const counts = { transactions: countOf('transaction'), entries: countOf('entry') };
    const ends = [metaIs(slot, parent, counts), slotIs(slot, 'processed', parent)];
    // A server that reorders sends the end of a slot before its last item, and then the counts.
    const [early, late] = isReordered ? [content.slice(0, -1), content.slice(-1)] : [content, []];
    updates.push(...early, ...ends, ...late, {
      kind: 'blockCounts',
      slot: slotOf(slot),
      updatedAccountCount: 0,
    });
    const [before, longBefore] = [chain[at - 2], chain[at - 5]];
    if (before !== undefined) updates.push(slotIs(before.slot, 'confirmed', before.parent));
    if (longBefore !== undefined) updates.push(slotIs(longBefore.slot, 'finalized', longBefore.parent));
  }
  return updates;
}
