import { Keypair, SystemProgram } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab, SOL } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const plain = { sigVerify: false, replaceRecentBlockhash: false, innerInstructions: false };
const notLoaded = {
  logs: [],
  unitsConsumed: 0n,
  loadedAccountsDataSize: 0,
  returnData: null,
  innerInstructions: null,
  postAccounts: new Map(),
  replacementBlockhash: null,
  fee: null,
  preBalances: null,
  postBalances: null,
  preTokenBalances: null,
  postTokenBalances: null,
  loadedAddresses: null,
};

/** Balances are shown unless signatures are invalid. */
const unchanged = (balances: readonly bigint[]) => ({
  preBalances: balances,
  postBalances: balances,
  preTokenBalances: [],
  postTokenBalances: [],
});

describe('simulation', () => {
  it('runs on the requested state', () => {
    const [from, to] = [lab.wallet(), Keypair.generate()];
    const older = lab.node.bank('processed');
    lab.node.submit(lab.transfer(from, to.publicKey, 6 * SOL));
    // Transactions of the open slot are invisible.
    const probe = lab.transfer(from, to.publicKey, 5 * SOL);
    expect(lab.node.simulate(probe, lab.node.bank('processed'), plain).err).toBeNull();
    lab.freeze();
    const newer = lab.node.bank('processed');
    expect(lab.node.simulate(probe, newer, plain).err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    const again = lab.node.simulate(probe, older, plain);
    expect(again.err).toBeNull();
    expect(again.preBalances).toEqual([10_000_000_000n, 0n, 1n]);
    expect(lab.node.simulate(probe, newer, plain).preBalances?.[0]).toBe(3_999_995_000n);
  });

  it('rejects a blockhash newer than its state', () => {
    const from = lab.wallet();
    const older = lab.node.bank('processed');
    lab.freeze();
    const transaction = lab.transfer(from, from.publicKey, 1);
    expect(lab.node.simulate(transaction, older, plain)).toEqual({
      err: 'BlockhashNotFound',
      ...notLoaded,
      ...unchanged([10_000_000_000n, 1n]),
    });
  });

  it('can replace the blockhash', () => {
    const from = lab.wallet();
    const bank = lab.node.bank('processed');
    const transaction = lab.transfer(from, from.publicKey, 1, Keypair.generate().publicKey.toBase58());
    expect(lab.node.simulate(transaction, bank, plain).err).toBe('BlockhashNotFound');
    const result = lab.node.simulate(transaction, bank, { ...plain, replaceRecentBlockhash: true });
    expect(result.err).toBeNull();
    expect(result.replacementBlockhash).toEqual({
      blockhash: bank.blockhash,
      lastValidBlockHeight: bank.blockHeight + 150n,
    });
  });

  it('of a payer without lamports equals one that was not loaded', () => {
    const nobody = Keypair.generate();
    const create = SystemProgram.transfer({
      fromPubkey: nobody.publicKey,
      toPubkey: nobody.publicKey,
      lamports: 1,
    });
    const transaction = lab.legacy([nobody], [create]);
    const result = lab.node.simulate(transaction, lab.node.bank('processed'), plain);
    expect(result).toEqual({ err: 'AccountNotFound', ...notLoaded, ...unchanged([0n, 1n]) });
  });
});
