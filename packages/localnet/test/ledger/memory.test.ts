import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lamports } from '../../../../src/solana/units.ts';
import type { AccountsStore } from '../../src/bank/accounts-store.ts';
import { at, Lab } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.open();
});
afterEach(() => lab.close());

const store = (): AccountsStore => (lab.node as unknown as { store: AccountsStore }).store;

describe('ledger memory', () => {
  it('holds only the readable versions of a changing account', async () => {
    const { faucet } = lab.node.genesis;
    for (let round = 0; round < 8; round++) {
      for (let i = 0; i < 25; i++) {
        lab.node.airdrop(at(Keypair.generate().publicKey), lamports(1_000_000));
        lab.freeze();
      }
      await lab.durable();
    }
    lab.freeze();
    const tip = Number(lab.node.bank('processed').slot);
    const snapshots = new Set(Array.from({ length: tip + 2 }, (_, slot) => store().at(faucet, slot)));
    snapshots.delete(null);
    // Versions of the finalized slot and the 31 above.
    expect(snapshots.size).toBeGreaterThan(30);
    expect(snapshots.size).toBeLessThanOrEqual(32);
  });
});
