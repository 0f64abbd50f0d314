import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Signature } from '../../../../src/solana/signature.ts';
import { at, Lab } from './lab.ts';

let lab: Lab;
let to: Keypair;
/** Signatures mentioning the address, oldest first: three in each of four slots. */
const made: Signature[] = [];
let firstSlot: bigint;
beforeAll(async () => {
  lab = await Lab.open();
  const from = lab.wallet(100);
  to = lab.wallet(1);
  firstSlot = lab.node.bank('processed').slot + 1n;
  for (let i = 0; i < 12; i++) {
    const transaction = lab.transfer(from, to.publicKey, 1_000_000 + i);
    expect(lab.node.submit(transaction)).toBeNull();
    made.push(transaction.signatures[0]!);
    if (i % 3 === 2) lab.freeze();
  }
});
afterAll(() => lab.close());

type Options = { limit?: number; highestSlot?: bigint; before?: Signature; until?: Signature };
const callRpc = ({ limit = 1000, highestSlot = 2n ** 63n, ...rest }: Options) =>
  lab.node.history.signaturesForAddress(at(to.publicKey), {
    limit,
    highestSlot: highestSlot as never,
    ...rest,
  });
const signatures = (options: Options) => callRpc(options).map(({ signature }) => signature);
/** Signatures between two numbers, descending, both included. */
const down = (from: number, upTo: number) => made.slice(upTo, from + 1).reverse();

describe('address history', () => {
  it('is newest first, also within a slot', () => {
    const all = callRpc({});
    expect(all.slice(0, 12).map(({ signature }) => signature)).toEqual(down(11, 0));
    expect(all.slice(0, 4).map(({ slot, index }) => [slot - firstSlot, index])).toEqual([
      [3n, 3],
      [3n, 2],
      [3n, 1],
      [2n, 3],
    ]);
    // Includes the earlier airdrop.
    expect(all).toHaveLength(13);
  });

  it('starts after `before` and stops before `until`', () => {
    expect(signatures({ before: made[7]!, limit: 3 })).toEqual(down(6, 4));
    expect(signatures({ until: made[7]! })).toEqual(down(11, 8));
    expect(signatures({ before: made[10]!, until: made[4]! })).toEqual(down(9, 5));
    expect(signatures({ before: made[4]!, until: made[4]! })).toEqual([]);
    expect(signatures({ before: made[4]!, until: made[9]! })).toEqual([]);
  });

  it('ends at the highest visible slot', () => {
    expect(signatures({ highestSlot: firstSlot + 1n, limit: 4 })).toEqual(down(5, 2));
    expect(signatures({ highestSlot: firstSlot, before: made[11]!, limit: 2 })).toEqual(down(2, 1));
  });
});
