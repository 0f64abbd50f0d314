import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  type JournalDamage,
  journalLine,
  readJournal,
  readJournalLine,
} from '../../src/control/usage/usage-journal.ts';
import type { StoredUsage } from '../../src/control/usage/usage-rows.ts';
import { scratchFolder } from './engine/scratch.ts';

export const from = 'the disk';
export const covers = ['control/usage/usage-journal.ts', 'control/usage/usage-journal.ts'];

const row: StoredUsage = {
  ...{ minute: 29_000_000, keyId: '7hQ2mKpZ', product: 'rpc', method: 'getSlot', status: 'ok' },
  ...{ requests: 3, bytesIn: 210, bytesOut: 96, credits: 3, messages: 0, latency: '12:2,13:1' },
};
const line = journalLine(row);

/** A journal; or, behind the byte 0xff, rows to each of which its checksum is put. */
export const seeds: readonly Uint8Array[] = [
  line + journalLine({ ...row, keyId: null, method: 'é' }) + line.slice(0, 40),
  `${line}torn\n${line}`,
].map((text): Uint8Array => Buffer.from(text));
const plain = Buffer.from(line.slice(9) + journalLine({ ...row, product: 'grpc' }).slice(9));
(seeds as Uint8Array[]).push(Buffer.of(0xff, ...plain));

const file = join(scratchFolder('usage-journal'), 'journal.jsonl');

const checked = (text: string): string =>
  text
    .split('\n')
    .map((each) => `${crc32(each).toString(16).padStart(8, '0')} ${each}\n`)
    .join('');

async function rowsIn(text: string): Promise<StoredUsage[]> {
  writeFileSync(file, text);
  const damage: JournalDamage = { lines: 0 };
  const rows: StoredUsage[] = [];
  // So many at a time that each line stands for itself.
  for await (const batch of readJournal(file, 1, damage)) rows.push(...batch);
  return rows;
}

/** Every row that is read was written so, and of a journal that is cut off the rows before the cut are read. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const given = Buffer.from(bytes[0] === 0xff ? bytes.subarray(1) : bytes).toString();
  const text = bytes[0] === 0xff ? checked(given) : given;
  const rows = await rowsIn(text);
  for (const each of rows) {
    const again = readJournalLine(journalLine(each).slice(0, -1));
    if (JSON.stringify(again) !== JSON.stringify(each))
      throw new Error('a row changes when it is written again');
  }
  const torn = await rowsIn(text.slice(0, text.length >> 1));
  if (torn.some((each, at) => JSON.stringify(each) !== JSON.stringify(rows[at])))
    throw new Error('a torn journal tells other rows');
  return rows.length > 0;
}
