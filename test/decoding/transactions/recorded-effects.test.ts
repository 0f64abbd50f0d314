import { describe, expect, it, vi } from 'vitest';
import { RawJson, type WritableJson } from '../../../src/base/json.ts';
import type { Chain } from '../../../src/decoding/chain/chain.ts';
import type { NameSources } from '../../../src/decoding/token/find-names.ts';
import type { Action, Swap } from '../../../src/decoding/transaction/action.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import {
  type ParsedTransaction,
  parsedTransaction,
  parseEffects,
  parseTransactions,
} from '../../../src/decoding/transaction/parse-transaction.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import { readRecordedTransaction, recordsPresent } from '../recorded-transactions.ts';
import { expectedEffects } from './expected-effects.ts';

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const TEXT_MAX = 24;

/** The first characters of addresses and texts, `-` for null, `(…)` around objects and `[…]` around lists. */
function short(value: WritableJson): string {
  if (value === null) return '-';
  if (value instanceof RawJson) return value.text;
  if (typeof value === 'string') return value.slice(0, ADDRESS.test(value) ? 4 : TEXT_MAX);
  if (Array.isArray(value)) return `[${value.map(short).join(' ')}]`;
  return typeof value === 'object' ? `(${membersOf(value as Action['info'])})` : String(value);
}

/** Values in interface order. Omits the token amount if there is a raw amount. */
const membersOf = (info: Action['info']): string =>
  Object.entries(info)
    .filter(([name]) => name !== 'amount' || info.amount_raw === undefined)
    .map(([, value]) => short(value))
    .filter((text) => text !== '')
    .join(' ');

/** Type and program of a transaction, then `index type values < parent program` of each action. */
const effectLines = ({ type, protocol, actions }: ParsedTransaction): string[] => [
  `${type} by ${protocol.name}`,
  ...actions.map(({ ix_index, type: kind, info, parent_protocol }) =>
    [
      `${ix_index} ${kind}`,
      membersOf(info),
      parent_protocol === undefined ? '' : `< ${short(parent_protocol)}`,
    ]
      .filter((text) => text !== '')
      .join(' '),
  ),
];

const files = [...expectedEffects.keys()];

function parsedOf(file: string): ParsedTransaction {
  const run = readRecordedTransaction(`${file}.json`);
  return parsedTransaction(run, parseEffects(run), new Map());
}

describe.skipIf(!recordsPresent)('recorded transactions (../shared/data/rest/getTransaction)', () => {
  it.each(files)('%s: has the expected actions', (file) => {
    expect(effectLines(parsedOf(file))).toEqual(expectedEffects.get(file));
  });

  it('are parsed once, but named again after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const accounts = vi.fn(async () => new Map());
    const chain = { accounts, signal: new AbortController().signal } as unknown as Chain;
    const offChain = { read: async () => new Map(), isLoading: () => false };
    const names = { tokenList: { find: () => null }, offChain } as unknown as NameSources;
    const swap = files.find((file) => expectedEffects.get(file)![0]!.startsWith('SWAP'));
    const fetched = [{ raw: {}, transaction: readRecordedTransaction(`${swap}.json`) }];
    const parse = () => parseTransactions(chain, fetched, names, { events: false, raw: false });
    expect(await parse()).toEqual(await parse());
    expect(accounts).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(600_000);
    await parse();
    expect(accounts).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });

  it.each(files)('%s: has swaps without events, and none when it failed', (file) => {
    const run = readRecordedTransaction(`${file}.json`);
    const swaps = recognizeSwaps(run, readEvents(run));
    // Curves pay SOL without a transfer: only their events have the amount.
    if (!/pumpfun|photon/.test(file)) {
      const ends = (swap: Swap) => [swap.swapper, swap.in, swap.out];
      expect(recognizeSwaps(run, []).map(ends)).toEqual(swaps.map(ends));
    }
    expect(recognizeSwaps({ ...run, err: 'AccountInUse' }, readEvents(run))).toEqual([]);
  });
});
