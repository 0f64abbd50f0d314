import { describe, expect, it } from 'vitest';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import {
  type ParsedTransaction,
  parsedTransaction,
  parseEffects,
} from '../../../src/decoding/transaction/parse-transaction.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import { readRecordedTransaction, recordsPresent } from '../recorded-transactions.ts';
import { effectLines } from './effect-lines.ts';
import { expectedEffects } from './expected-effects.ts';

const files = [...expectedEffects.keys()];

function parsedOf(file: string): ParsedTransaction {
  const run = readRecordedTransaction(`${file}.json`);
  return parsedTransaction(run, parseEffects(run), new Map(), { events: true });
}

describe.skipIf(!recordsPresent)('recorded transactions (../shared/data/rest/getTransaction)', () => {
  it.each(files)('%s: has the expected actions', (file) => {
    expect(effectLines(parsedOf(file))).toEqual(expectedEffects.get(file));
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
