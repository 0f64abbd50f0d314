import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sysvarOwner, sysvars } from '../../../../src/solana/programs.ts';
import { decodeSlotHashes, decodeSlotHistory, decodeStakeHistory } from '../../../../src/solana/sysvars.ts';
import { Lab, SOL } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.open({ slotsPerEpoch: 32 });
});
afterEach(() => lab.close());

const slots = () =>
  (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
    Number(lab.node.bank(commitment).slot),
  );

describe('commitments', () => {
  it('trail the tip by 1 and 31 slots once durable', async () => {
    lab.freeze(40);
    await lab.durable();
    expect(slots()).toEqual([40, 39, 9]);
  });

  it('never finalize what is not durable', () => {
    // Synchronous, so no write can become durable.
    lab.freeze(40);
    expect(slots()).toEqual([40, 39, 0]);
  });
});

describe('bank', () => {
  it('counts transactions and lamports', () => {
    const before = lab.node.bank('processed');
    const from = lab.wallet();
    lab.node.submit(lab.transfer(from, Keypair.generate().publicKey, SOL));
    lab.freeze();
    const after = lab.node.bank('processed');
    expect(after.transactionCount - before.transactionCount).toBe(3n);
    // Half of each fee is burnt, of the vote too.
    expect(before.capitalization - after.capitalization).toBe(10_000n);
    const sum = [...after.accounts()].reduce((total, [, account]) => total + account.lamports, 0n);
    expect(after.capitalization).toBe(sum);
  });

  it('advances epochs and their clock', () => {
    lab.freeze(32);
    const bank = lab.node.bank('processed');
    expect([bank.epoch, bank.clock.epoch, bank.clock.leaderScheduleEpoch]).toEqual([1n, 1n, 2n]);
    expect(lab.node.bank('confirmed').epoch).toBe(0n);
    expect(decodeStakeHistory(bank.account(sysvars.stakeHistory)!.data)).toHaveLength(1);
  });

  it('has full-size, rent-exempt sysvars', () => {
    lab.freeze(5);
    const bank = lab.node.bank('processed');
    const shape = (address: keyof typeof sysvars) => {
      const account = bank.account(sysvars[address])!;
      expect(account.owner).toBe(sysvarOwner);
      return [account.data.length, account.lamports];
    };
    expect(shape('clock')).toEqual([40, 1_169_280n]);
    expect(shape('epochSchedule')).toEqual([33, 1_120_560n]);
    expect(shape('recentBlockhashes')).toEqual([6008, 42_706_560n]);
    expect(shape('rent')).toEqual([17, 1_009_200n]);
    expect(shape('slotHistory')).toEqual([131_097, 913_326_000n]);
    expect(shape('stakeHistory')).toEqual([16_392, 114_979_200n]);
    expect(shape('slotHashes')).toEqual([20_488, 143_487_360n]);
    expect(decodeSlotHashes(bank.account(sysvars.slotHashes)!.data)!.map(({ slot }) => slot)).toEqual([
      4n,
      3n,
      2n,
      1n,
      0n,
    ]);
    expect(decodeSlotHistory(bank.account(sysvars.slotHistory)!.data)!.nextSlot).toBe(6n);
  });
});
