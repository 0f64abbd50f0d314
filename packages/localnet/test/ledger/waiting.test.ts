import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { at, Lab, SOL } from './lab.ts';

/** Two transfers fit into a slot, and three may wait. */
let lab: Lab;
let from: Keypair;
let to: Keypair;
beforeEach(async () => {
  lab = await Lab.open({ blockCostMax: 4000n, waitingMaxTransactions: 3 });
  [from, to] = [lab.wallet(), Keypair.generate()];
});
afterEach(() => lab.close());

const transfers = (count: number): Transaction[] =>
  Array.from({ length: count }, (_, n) => lab.transfer(from, to.publicKey, SOL / 10 + n));
const slotOf = ({ signatures }: Transaction): bigint | null =>
  lab.node.recentStatus(signatures[0]!)?.slot ?? null;

describe('transaction without block capacity', () => {
  it('runs in a later slot, oldest first', () => {
    const sent = transfers(5);
    expect(sent.map((each) => lab.node.send(each))).toEqual(Array(5).fill('taken'));
    lab.freeze(4);
    expect(sent.map(slotOf)).toEqual([2n, 2n, 3n, 3n, 4n]);
    expect(lab.node.history.block(3n as never)?.transactions.map(({ transaction }) => transaction)).toEqual(
      sent.slice(2, 4),
    );
  });

  it('is queued once however often it is sent', () => {
    const sent = transfers(3);
    for (const each of sent) lab.node.send(each);
    for (let n = 0; n < 9; n++) expect(lab.node.send(sent[2]!)).toBe('taken');
    expect(
      transfers(5)
        .slice(3)
        .map((each) => lab.node.send(each)),
    ).toEqual(['taken', 'taken']);
  });

  it('is dropped when its blockhash expires', async () => {
    await lab.close();
    lab = await Lab.open({ blockCostMax: 1000n, waitingMaxTransactions: 1 });
    // No block has capacity for it, nor for an airdrop.
    lab.node.airdrop(at(to.publicKey), lamports(BigInt(SOL)));
    lab.freeze(150);
    expect(lab.node.airdrop(at(to.publicKey), lamports(1n))).toBe('queue full');
    lab.freeze();
    expect(lab.node.airdrop(at(to.publicKey), lamports(1n))).not.toBe('queue full');
    expect(lab.balance(to.publicKey)).toBeNull();
  });

  it('of the faucet waits like others and is not duplicated', () => {
    // Equal airdrops differ in their blockhashes.
    lab.freeze(10);
    const gone = Array.from({ length: 5 }, () => lab.node.airdrop(at(to.publicKey), lamports(BigInt(SOL))));
    expect(new Set(gone).size).toBe(5);
    lab.freeze(5);
    expect(lab.balance(to.publicKey)).toBe(BigInt(5 * SOL));
  });
});
