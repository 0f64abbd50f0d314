import { describe, expect, it } from 'vitest';
import { address } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { epoch } from '../../../../src/solana/units.ts';
import { epochScheduleOf } from '../history/slot-record.ts';
import type { Genesis } from '../node.ts';
import { inflationRate } from './inflation.ts';

const placeholder = address('11111111111111111111111111111111');
const genesis: Genesis = {
  hash: blockhashFromBytes(new Uint8Array(32)),
  creationTime: 0n,
  identity: placeholder,
  voteAccount: placeholder,
  stakeAccount: placeholder,
  faucet: placeholder,
  epochSchedule: epochScheduleOf(432_000),
  ticksPerSlot: 64,
  slotMs: 400,
};

describe('inflation', () => {
  it('starts at 8 %, falls by 15 % a year and ends at 1.5 %', () => {
    expect(inflationRate(genesis, epoch(0)).total).toBe(0.08);
    // With 400 ms slots a year has 182.6 epochs.
    expect(inflationRate(genesis, epoch(183)).total).toBeCloseTo(0.08 * 0.85 ** (183 / 182.62), 5);
    expect(inflationRate(genesis, epoch(100_000)).total).toBe(0.015);
  });

  it('gives a twentieth to the foundation for seven years', () => {
    expect(inflationRate(genesis, epoch(0))).toEqual({ total: 0.08, validator: 0.076, foundation: 0.004 });
    const last = inflationRate(genesis, epoch(1278));
    expect(last.foundation).toBeCloseTo(last.total / 20, 12);
    expect(inflationRate(genesis, epoch(1279)).foundation).toBe(0);
  });
});
