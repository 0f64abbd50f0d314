import { describe, expect, it } from 'vitest';
import { type WritableJson, writeJson } from '../../../src/base/json.ts';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import {
  type ParsedTransaction,
  parsedTransaction,
  parseEffects,
} from '../../../src/decoding/transaction/parse-transaction.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../../src/solana/address.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { readRecord, readRecordedTransaction, recordsPresent } from '../recorded-transactions.ts';
import { effectLines } from './effect-lines.ts';
import { expectedEffects } from './expected-effects.ts';

const files = [...expectedEffects.keys()];

function parsedOf(file: string): ParsedTransaction {
  const run = readRecordedTransaction(`${file}.json`);
  return parsedTransaction(run, parseEffects(run), new Map(), { events: true });
}

/** Balance changes by `owner mint`. */
class Ledger {
  readonly changes = new Map<string, bigint>();

  add(owner: WritableJson, mint: WritableJson, amount: bigint): void {
    const key = `${owner} ${mint}`;
    const sum = (this.changes.get(key) ?? 0n) + amount;
    if (sum === 0n) this.changes.delete(key);
    else this.changes.set(key, sum);
  }
}

type Balance = { accountIndex: number; owner?: string; mint: string; uiTokenAmount: { amount: string } };

/** Recorded changes without wrapped SOL. */
function recordedChanges(file: string): Ledger {
  const { meta } = readRecord(`${file}.json`) as unknown as {
    meta: { preTokenBalances: Balance[]; postTokenBalances: Balance[] };
  };
  const run = readRecordedTransaction(`${file}.json`);
  const ledger = new Ledger();
  for (const [balances, sign] of [
    [meta.preTokenBalances, -1n],
    [meta.postTokenBalances, 1n],
  ] as const) {
    for (const { accountIndex, owner, mint, uiTokenAmount } of balances) {
      // Nodes of 2021 did not record owners; the account creation names them.
      const account = run.accountKeys[accountIndex] as Address;
      const holder = owner ?? run.tokenAccounts.get(account)?.owner;
      if (mint !== nativeMint) ledger.add(holder, mint, sign * BigInt(uiTokenAmount.amount));
    }
  }
  return ledger;
}

/** Changes according to the actions. */
function actionChanges({ actions }: ParsedTransaction): Ledger {
  const ledger = new Ledger();
  for (const { type, info } of actions) {
    const mint = info.token_address ?? info.nft_address;
    if (mint === undefined || mint === nativeMint || info.amount === undefined) continue;
    const amount = BigInt(writeJson(info.amount_raw ?? info.amount));
    if (type === 'TOKEN_TRANSFER' || type === 'NFT_TRANSFER') {
      ledger.add(info.sender, mint, -amount);
      ledger.add(info.receiver, mint, amount);
    } else if (type === 'TOKEN_MINT') ledger.add(info.receiver_address, mint, amount);
    else if (type === 'NFT_MINT') ledger.add(info.owner, mint, amount);
    else if (type === 'TOKEN_BURN' || type === 'NFT_BURN') ledger.add(info.wallet, mint, -amount);
  }
  return ledger;
}

/** Token-2022 withholds a transfer fee of 4 % in the receiving account. */
const withheld = new Map([
  [
    'tx-parser/OKXDEX_swap_0',
    ['GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL 7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1', 14_352n],
  ],
] as const);

/** Mints created beside a swap, whose first holder is not shown. */
const newBesideSwap = (file: string, { type }: ParsedTransaction): Set<string> =>
  new Set(
    readRecordedTransaction(`${file}.json`).instructions.flatMap(({ parsed }) =>
      type === 'SWAP' && parsed?.type.startsWith('initializeMint') ? [String(parsed.info.mint)] : [],
    ),
  );

describe.skipIf(!recordsPresent)('recorded transactions (../shared/data/rest/getTransaction)', () => {
  it.each(files)('%s: has the expected actions', (file) => {
    expect(effectLines(parsedOf(file))).toEqual(expectedEffects.get(file));
  });

  it.each(files)('%s: matches token actions with balance changes', (file) => {
    const parsed = parsedOf(file);
    const decoded = actionChanges(parsed);
    const [holding = '', fee = 0n] = withheld.get(file as never) ?? [];
    if (fee > 0n) decoded.add(...(holding.split(' ') as [string, string]), -fee);
    const fresh = newBesideSwap(file, parsed);
    const known = (ledger: Ledger) =>
      new Map([...ledger.changes].filter(([key]) => !fresh.has(key.split(' ')[1] ?? '')));
    expect(known(decoded)).toEqual(known(recordedChanges(file)));
  });

  it.each(files)('%s: has swaps without events, and none when it failed', (file) => {
    const run = readRecordedTransaction(`${file}.json`);
    const swaps = recognizeSwaps(run, readEvents(run));
    // Curves pay SOL without a transfer: only their events have the amount.
    if (!/pumpfun|photon/.test(file)) {
      const ends = (swap: Swap) => [swap.swapper, swap.in, swap.out];
      expect(recognizeSwaps(run, []).map(ends)).toEqual(swaps.map(ends));
    }
    const failed = { ...run, err: 'AccountInUse' };
    expect(readEvents(failed)).toEqual([]);
    expect(recognizeSwaps(failed, readEvents(run))).toEqual([]);
  });
});
