import { describe, expect, it } from 'vitest';
import {
  type ParsedTransaction,
  parsedTransaction,
  parseEffects,
} from '../../../src/decoding/transaction/parse-transaction.ts';
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
});
