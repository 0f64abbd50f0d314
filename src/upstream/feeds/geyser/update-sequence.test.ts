import { describe, expect, it } from 'vitest';
import type { Update } from '../../../protocol/geyser/subscribe-update.ts';
import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';
import { addressFromBytes } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { lamports, slot as slotOf } from '../../../solana/units.ts';
import { UpdateSequence } from './update-sequence.ts';

const ACCOUNT = addressFromBytes(new Uint8Array(32).fill(3));

const slotIs = (slot: number, status: SlotStatus): Update =>
  ({ kind: 'slot', slot: slotOf(slot), parent: slotOf(slot - 1), status, deadError: null }) as Update;

const written = (slot: number, version: bigint, balance: number): Update => {
  const account = {
    lamports: lamports(balance),
    data: new Uint8Array(),
    owner: programs.system,
    executable: false,
    rentEpoch: 0n,
  };
  const write = { address: ACCOUNT, account, writeVersion: version, signature: null };
  return { kind: 'account', slot: slotOf(slot), isStartup: false, write } as Update;
};

const kindsOf = (sequence: UpdateSequence, updates: readonly Update[], node = 'one'): string[] =>
  updates.flatMap((update) => sequence.eventsOf(update, 0n, node).map(({ kind }) => kind));

describe('a dead slot', () => {
  it('is emitted again from its start when replayed', () => {
    const sequence = new UpdateSequence(100, () => {});
    const first = [slotIs(5, 'createdBank'), written(5, 1n, 5), slotIs(5, 'dead')];
    expect(kindsOf(sequence, first)).toEqual(['created', 'account', 'dead']);
    const again = [
      slotIs(5, 'createdBank'),
      written(5, 1n, 6),
      slotIs(5, 'processed'),
      slotIs(5, 'confirmed'),
    ];
    expect(kindsOf(sequence, again)).toEqual(['created', 'account', 'processed', 'confirmed']);
  });

  it('is emitted again from servers without bank updates', () => {
    const sequence = new UpdateSequence(100, () => {});
    kindsOf(sequence, [written(5, 1n, 5), slotIs(5, 'dead')]);
    const again = [written(5, 1n, 6), slotIs(5, 'processed')];
    expect(kindsOf(sequence, again)).toEqual(['account', 'created', 'processed']);
  });

  it('is emitted as dead once for several servers', () => {
    const sequence = new UpdateSequence(100, () => {});
    expect(kindsOf(sequence, [slotIs(5, 'createdBank'), slotIs(5, 'dead')])).toEqual(['created', 'dead']);
    expect(kindsOf(sequence, [slotIs(5, 'dead')], 'two')).toEqual([]);
  });
});
