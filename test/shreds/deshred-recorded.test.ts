import { describe, expect, it } from 'vitest';
import { verifyTransaction } from '../../src/solana/ed25519.ts';
import { readEntries } from '../../src/solana/entries.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { deshredding } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { DEMO_VERSION, demoEntries, demoLeader, demoPackets, hasRecordedShreds } from './recorded-shreds.ts';

function deshredded(packets: readonly Uint8Array[]) {
  const rig = deshredding({ leaderOf: () => demoLeader, shredVersion: () => DEMO_VERSION });
  for (const packet of packets) rig.deshredder.push(packet);
  return rig;
}

function expectAll(packets: readonly Uint8Array[]): void {
  const { batches, slots, deshredder } = deshredded(packets);
  expect(batches).toHaveLength(1);
  const [batch] = batches;
  expect(Buffer.from(batch!.entries).equals(demoEntries)).toBe(true);
  expect([batch!.slot, batch!.firstShredIndex, batch!.endShredIndex]).toEqual([0n, 0, 256]);
  expect(slots.map(({ status }) => status)).toEqual(['firstShredReceived', 'completed']);
  expect(slots[1]!.parent).toBe(0n);
  expect(deshredder.usage).toMatchObject({ bytes: 0, openSlots: 0 });
  expect(deshredder.stats).toMatchObject({ brokenChains: 0, unrecoverableSets: 0 });
}

/** Needs ../shared/data/shreds. */
describe.skipIf(!hasRecordedShreds)('recorded shreds (../shared/data, shreds)', () => {
  const random = createRandom(20_261_122);

  it('yield their entries and 1,280 transactions', () => {
    const [batch] = deshredded(demoPackets).batches;
    const entries = readEntries(batch!.entries)!;
    expect(entries).toHaveLength(64);
    const transactions = entries.flatMap((entry) => entry.transactions);
    expect(transactions).toHaveLength(1_280);
    // Each entry has one transaction twenty times.
    const signatures = transactions.map(({ signature }) => Buffer.from(signature).toString('hex'));
    expect(new Set(signatures).size).toBe(64);
    const parsed = transactions.map(({ bytes }) => decodeTransaction(bytes));
    expect(parsed.every((one) => 'transaction' in one && verifyTransaction(one.transaction))).toBe(true);
    expect(transactions.every(({ version, isVote }) => version === 'legacy' && !isVote)).toBe(true);
  });

  it('yield them without any 32 of each 64', () => {
    for (let i = 0; i < 30; i++) {
      const left = dropSome(demoPackets, 64, 32, random);
      expect(left).toHaveLength(256);
      expectAll(left);
      expectAll(shuffled(left, random));
    }
  });

  it('need one signature verification per set', () => {
    expect(deshredded(demoPackets).deshredder.stats.signatures).toBe(8);
  });
});
