import { expect, it } from 'vitest';
import { address } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { faucetTransfer } from './faucet.ts';
import { STATUS_SLOTS_MAX, StatusCache } from './status-cache.ts';

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1));
const transfer = (amount: number) =>
  faucetTransfer(
    payer,
    address('SysvarC1ock11111111111111111111111111111111'),
    lamports(amount),
    blockhashFromBytes(new Uint8Array(32)),
  );

it('recognizes a message under any signature', () => {
  const cache = new StatusCache();
  const transaction = transfer(1);
  cache.add(transaction, 7, 'AccountInUse');
  expect(cache.get(transaction.signatures[0]!)).toEqual({ slot: 7, err: 'AccountInUse' });
  expect(cache.slotOf({ ...transaction, signatures: transfer(2).signatures })).toBe(7);
  expect(cache.slotOf(transfer(2))).toBeUndefined();
});

it('expires after twice the life of a blockhash', () => {
  const cache = new StatusCache();
  cache.add(transfer(1), 1, null);
  cache.add(transfer(2), 2, null);
  cache.expire(STATUS_SLOTS_MAX);
  expect(cache.slotOf(transfer(1))).toBe(1);
  cache.expire(STATUS_SLOTS_MAX + 1);
  expect(cache.slotOf(transfer(1))).toBeUndefined();
  expect(cache.get(transfer(1).signatures[0]!)).toBeUndefined();
  expect(cache.slotOf(transfer(2))).toBe(2);
});
