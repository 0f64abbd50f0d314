import { Authorized, Keypair, PublicKey, StakeProgram } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sysvars } from '../../../src/solana/programs.ts';
import { decodeStakeState } from '../../../src/solana/stake-state.ts';
import { decodeStakeHistory } from '../../../src/solana/sysvars.ts';
import { activeStakes } from '../src/epoch-rewards/stake-accounts.ts';
import { at, Lab, SOL } from './ledger/lab.ts';

const SLOTS_PER_EPOCH = 32;
const STAKED = 10n * BigInt(SOL);

let lab: Lab;
let wallet: Keypair;
const stake = Keypair.generate();
beforeAll(async () => {
  lab = await Lab.open({ slotsPerEpoch: SLOTS_PER_EPOCH });
  wallet = lab.wallet(100);
});
afterAll(() => lab.close());

const bank = () => lab.node.bank('processed');
const active = (): bigint => activeStakes(bank()).get(lab.node.genesis.voteAccount) ?? 0n;
const toEpoch = (epoch: bigint): void => {
  while (bank().epoch < epoch) lab.freeze();
};
const stakeOf = () => {
  const state = decodeStakeState(bank().account(at(stake.publicKey))?.data ?? new Uint8Array());
  return state?.type === 'delegated' ? state.stake : null;
};

describe('new stake delegation', () => {
  it('is not effective in its first epoch', () => {
    toEpoch(1n);
    lab.freeze(2);
    const before = active();
    const lamports = Number(STAKED) + 2_282_880;
    const { instructions } = StakeProgram.createAccount({
      fromPubkey: wallet.publicKey,
      stakePubkey: stake.publicKey,
      authorized: new Authorized(wallet.publicKey, wallet.publicKey),
      lamports,
    });
    const delegation = StakeProgram.delegate({
      stakePubkey: stake.publicKey,
      authorizedPubkey: wallet.publicKey,
      votePubkey: new PublicKey(lab.node.genesis.voteAccount),
    });
    expect(lab.run([wallet, stake], [...instructions, ...delegation.instructions])).toBeNull();
    expect(stakeOf()?.delegation.stake).toBe(STAKED);
    expect(active()).toBe(before);
  });

  it('is effective and in the stake history in the next epoch', () => {
    const before = active();
    toEpoch(2n);
    const [entry] = decodeStakeHistory(bank().account(sysvars.stakeHistory)?.data ?? new Uint8Array()) ?? [];
    expect(entry).toEqual({ epoch: 1n, effective: before, activating: STAKED, deactivating: 0n });
    expect(active()).toBe(before + STAKED);
  });

  it('earns from its second epoch', () => {
    lab.freeze(3);
    expect(stakeOf()?.delegation.stake).toBe(STAKED);
    toEpoch(3n);
    lab.freeze(2);
    const earned = (stakeOf()?.delegation.stake ?? 0n) - STAKED;
    expect(earned).toBeGreaterThan(0n);
    expect(bank().account(at(stake.publicKey))?.lamports).toBe(STAKED + 2_282_880n + earned);
  });

  it('is ineffective in the epoch after deactivation', () => {
    toEpoch(4n);
    const deactivation = StakeProgram.deactivate({
      stakePubkey: stake.publicKey,
      authorizedPubkey: wallet.publicKey,
    });
    // The open slot still pays rewards.
    lab.freeze(2);
    const own = stakeOf()?.delegation.stake ?? 0n;
    const before = active();
    expect(lab.run([wallet], deactivation.instructions)).toBeNull();
    expect(stakeOf()?.delegation.deactivationEpoch).toBe(4n);
    expect(active()).toBe(before);
    toEpoch(5n);
    expect(active()).toBe(before - own);
  });
});
