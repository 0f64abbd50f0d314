import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import type { Address } from '../../src/solana/address.ts';
import { decodeBase58 } from '../../src/solana/base58.ts';
import { readMeta } from '../../src/solana/encoding/read-ui-meta.ts';
import {
  encodeTransactionWithMeta,
  type TransactionWithMeta,
} from '../../src/solana/encoding/ui-transaction.ts';
import type { CompiledInstruction, Message } from '../../src/solana/message/message.ts';

/** Needs ../shared/data/rest/getTransaction/tx-parser: mainnet getTransaction results, encoding json. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/getTransaction/tx-parser');
const present = existsSync(folder);

// biome-ignore lint/suspicious/noExplicitAny: recorded answers have no type of their own
type Recorded = any;

const bytes = (text: string): Uint8Array => decodeBase58(text) ?? new Uint8Array();

const instruction = (i: Recorded): CompiledInstruction => ({
  programIdIndex: i.programIdIndex,
  accounts: Uint8Array.from(i.accounts),
  data: bytes(i.data),
});

/** Ledger values behind a recorded response. */
function valuesOf({ transaction, meta, version }: Recorded): TransactionWithMeta {
  const message: Message = {
    ...transaction.message,
    version,
    instructions: transaction.message.instructions.map(instruction),
    addressTableLookups: (transaction.message.addressTableLookups ?? []).map((lookup: Recorded) => ({
      accountKey: lookup.accountKey as Address,
      writableIndexes: Uint8Array.from(lookup.writableIndexes),
      readonlyIndexes: Uint8Array.from(lookup.readonlyIndexes),
    })),
  };
  const nothing = new Uint8Array();
  const { signatures } = transaction;
  return { transaction: { signatures, message, messageBytes: nothing, wire: nothing }, meta: readMeta(meta) };
}

function encoded(values: TransactionWithMeta, encoding: 'json' | 'jsonParsed'): Recorded {
  const shown = encodeTransactionWithMeta(values, encoding, 0, 'full');
  if ('unsupportedVersion' in shown) throw new Error('refused');
  return parseJson(writeJson(shown.json));
}

/** Recorded response in the form of nodes since 3.0: top-level height 1, and no null for unrecorded members. */
function modern({ transaction, meta, version }: Recorded): JsonValue {
  const { returnData, ...rest } = meta;
  for (const i of transaction.message.instructions) i.stackHeight = 1;
  return { meta: returnData === null ? rest : meta, transaction, version };
}

/** Placeholder without recordings, so that skipped tests are counted. */
const recorded: [string, Recorded][] = present
  ? readdirSync(folder).map((file) => [file, parseJson(readFileSync(join(folder, file), 'utf8'))])
  : [['each recording', []]];

describe.skipIf(!present)('recorded transactions (../shared/data, tx-parser)', () => {
  it.each(recorded)('%s is encoded as recorded', (_file, [answer]) => {
    const values = valuesOf(answer);
    expect(encoded(values, 'json')).toEqual(modern(answer));
  });
});
