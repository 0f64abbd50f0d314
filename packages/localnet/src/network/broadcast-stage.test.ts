import { expect, it } from 'vitest';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { OpenSlotState } from '../bank/open-slot-state.ts';
import { SlotEntries } from '../bank/slot-entries.ts';
import { BroadcastStage } from './broadcast-stage.ts';

it('rolls back the entries of shreds that could not be sent', () => {
  let isBroken = true;
  const send = (): void => {
    if (isBroken) throw new Error('no socket');
  };
  const broadcast = new BroadcastStage({ leader: Keypair.fromSeed(new Uint8Array(32)), version: 1, send });
  const entries = new SlotEntries(new Uint8Array(32));
  const open = { header: { slot: 2 }, entries } as unknown as OpenSlotState;
  const signature = '1'.repeat(64);
  const transaction = { signatures: [signature], wire: new Uint8Array(200) } as unknown as Transaction;
  expect(() => broadcast.announce(open, [transaction])).toThrow('no socket');
  expect(broadcast.takeEntry(transaction)).toBeUndefined();
  isBroken = false;
  broadcast.announce(open, [transaction]);
  const untouched = new SlotEntries(new Uint8Array(32));
  const taken = broadcast.takeEntry(transaction);
  expect(taken).toEqual(untouched.record(taken?.mixin ?? new Uint8Array()));
});
