import { expect, it } from 'vitest';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { faucetTransfer } from './faucet.ts';
import { WaitingTransactions } from './pending-transactions.ts';

const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const blockhash = blockhashFromBytes(new Uint8Array(32));
const made = (amount: number): Transaction =>
  faucetTransfer(payer, payer.address, lamports(amount), blockhash);
const [first, second, third] = [made(1), made(2), made(3)];
const signatureOf = ({ signatures }: Transaction): Signature => signatures[0] as Signature;

function waitingFor(
  ...entries: (readonly [Transaction, { lastTip?: number; retriesLeft?: bigint }])[]
): WaitingTransactions {
  const waiting = new WaitingTransactions(2);
  for (const [transaction, { lastTip = 100, retriesLeft = null }] of entries) {
    waiting.add(signatureOf(transaction), { transaction, cost: 5n, lastTip, retriesLeft });
  }
  return waiting;
}

/** Transactions offered to a slot without capacity. */
function offered(waiting: WaitingTransactions, tip: number): Transaction[] {
  const seen: Transaction[] = [];
  waiting.offer(tip, (transaction, cost) => {
    seen.push(transaction);
    return cost;
  });
  return seen;
}

it('offers the oldest first with its last cost', () => {
  const waiting = waitingFor([second, {}], [first, {}]);
  expect(offered(waiting, 1)).toEqual([second, first]);
  const costs: bigint[] = [];
  const costsNine = (_: Transaction, cost: bigint): bigint => {
    costs.push(cost);
    return 9n;
  };
  waiting.offer(2, costsNine);
  waiting.offer(3, costsNine);
  expect(costs).toEqual([5n, 5n, 9n, 9n]);
});

it('removes finished transactions', () => {
  const waiting = waitingFor([first, {}], [second, {}]);
  waiting.offer(1, (transaction, cost) => (transaction === first ? null : cost));
  expect(waiting.has(signatureOf(first))).toBe(false);
  expect(offered(waiting, 2)).toEqual([second]);
});

it('rejects the newest when full', () => {
  const waiting = waitingFor([first, {}], [second, {}]);
  const entry = { transaction: third, cost: 1n, lastTip: 9, retriesLeft: null };
  expect(waiting.add(signatureOf(third), entry)).toBe(false);
  expect(offered(waiting, 1)).toEqual([first, second]);
});

it('stops after the last tip or the maximum retries', () => {
  const waiting = waitingFor([first, { lastTip: 7 }], [second, { retriesLeft: 2n }]);
  expect(offered(waiting, 6)).toEqual([first, second]);
  expect(offered(waiting, 7)).toEqual([first, second]);
  expect(offered(waiting, 8)).toEqual([]);
  expect([first, second].map((each) => waiting.has(signatureOf(each)))).toEqual([false, false]);
});
