import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson } from '../../src/base/json.ts';
import type { ExecutedTransaction } from '../../src/decoding/transaction/executed-transaction.ts';
import { readExecutedTransaction } from '../../src/decoding/transaction/read-executed-transaction.ts';

/** ../shared/data/rest/getTransaction: one recorded response per file. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/getTransaction');

export const recordsPresent: boolean = existsSync(folder);

export function readRecord(path: string): { [name: string]: JsonValue } {
  const text = parseJson(readFileSync(join(folder, path), 'utf8'));
  const record = Array.isArray(text) ? text[0] : text;
  if (record === null || typeof record !== 'object' || Array.isArray(record)) throw new TypeError(path);
  const { result } = record;
  return result === undefined ? (record ?? {}) : (result as { [name: string]: JsonValue });
}

export function readRecordedTransaction(path: string): ExecutedTransaction {
  const run = readExecutedTransaction(readRecord(path));
  if (run === null) throw new TypeError(`${path} is no transaction`);
  return run;
}
