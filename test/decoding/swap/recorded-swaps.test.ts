import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import { type ExpectedSwap, expectedSwaps, SOL } from './expected-swaps.ts';
import { readRecord, readRecordedTransaction, recordsOf, recordsPresent } from './recorded-transactions.ts';

const files = Object.keys(expectedSwaps);

const shown = (swap: Swap): Omit<ExpectedSwap, 'lamportsBeside' | 'tokensBeside'> => ({
  index: swap.index,
  swapper: swap.swapper,
  in: [swap.in.mint, swap.in.raw],
  out: [swap.out.mint, swap.out.raw],
  pools: swap.pools.map((one) => [one.source, one.pool ?? '', one.in.raw, one.out.raw]),
  ...(swap.quotedOut === null ? {} : { quote: [swap.slippagePercent ?? -1, swap.quotedOut] }),
});

/** Without the members that only balances have. */
function withoutBalances({ lamportsBeside: _, tokensBeside: __, ...swap }: ExpectedSwap) {
  return swap;
}

type Balance = { owner?: string; mint: string; accountIndex: number; uiTokenAmount: { amount: string } };
type Meta = {
  fee: number;
  preBalances: (number | bigint)[];
  postBalances: (number | bigint)[];
  preTokenBalances: Balance[];
  postTokenBalances: Balance[];
};

/** Balance changes of owners in the recording. */
class Balances {
  readonly #meta: Meta;
  readonly #keys: readonly string[];

  constructor(path: string) {
    const { meta } = readRecord(path);
    this.#meta = meta as unknown as Meta;
    this.#keys = readRecordedTransaction(path).accountKeys;
  }

  tokens(owner: string, mint: string): bigint {
    const sum = (balances: Balance[]) =>
      balances
        .filter((one) => one.owner === owner && one.mint === mint)
        .reduce((total, one) => total + BigInt(one.uiTokenAmount.amount), 0n);
    return sum(this.#meta.postTokenBalances) - sum(this.#meta.preTokenBalances);
  }

  /** Wallet and token accounts, without the fee. */
  lamports(owner: string): bigint {
    const { preTokenBalances, postTokenBalances, preBalances, postBalances, fee } = this.#meta;
    const own = new Set(
      [...preTokenBalances, ...postTokenBalances]
        .filter((one) => one.owner === owner)
        .map((one) => one.accountIndex),
    );
    own.add(this.#keys.indexOf(owner));
    let change = this.#keys[0] === owner ? BigInt(fee) : 0n;
    for (const at of own) change += BigInt(postBalances[at] ?? 0) - BigInt(preBalances[at] ?? 0);
    return change;
  }
}

const recorded = (path: string): Swap[] => {
  const run = readRecordedTransaction(path);
  return recognizeSwaps(run, readEvents(run));
};

describe.skipIf(!recordsPresent)('recorded swaps (../shared/data, rest/getTransaction)', () => {
  it('have expectations for every tx-parser file', () => {
    const swapless = files.filter((path) => expectedSwaps[path]?.length === 0);
    expect(files.filter((path) => path.startsWith('tx-parser/')).toSorted()).toEqual(
      recordsOf('tx-parser')
        .map((file) => `tx-parser/${file}`)
        .toSorted(),
    );
    expect(swapless).toHaveLength(7);
  });

  it.each(files)('%s has the expected swaps', (path) => {
    expect(recorded(path).map(shown)).toEqual(expectedSwaps[path]?.map(withoutBalances));
  });

  it.each(files)('%s is consistent with its balances', (path) => {
    const balances = new Balances(path);
    for (const { swapper, in: given, out: taken, lamportsBeside, tokensBeside } of expectedSwaps[path] ??
      []) {
      const sol = given[0] === SOL ? -given[1] : taken[0] === SOL ? taken[1] : 0n;
      expect(balances.lamports(swapper)).toBe(sol + (lamportsBeside ?? 0n));
      if (given[0] !== SOL) expect(balances.tokens(swapper, given[0])).toBe(-given[1] + (tokensBeside ?? 0n));
      if (taken[0] !== SOL) expect(balances.tokens(swapper, taken[0])).toBe(taken[1]);
    }
  });

  it.each(files)('%s has none when it failed', (path) => {
    const run = { ...readRecordedTransaction(path), err: 'AccountInUse' as JsonValue };
    expect(readEvents(run)).toEqual([]);
    expect(recognizeSwaps(run, readEvents(readRecordedTransaction(path)))).toEqual([]);
  });

  it.each(files.filter((path) => !path.includes('pumpfun') && !path.includes('photon')))(
    '%s has the same input and output without events',
    (path) => {
      const ends = (swap: Swap) => [swap.swapper, swap.in, swap.out];
      expect(recognizeSwaps(readRecordedTransaction(path), []).map(ends)).toEqual(recorded(path).map(ends));
    },
  );
});
