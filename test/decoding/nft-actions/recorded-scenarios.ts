import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson } from '../../../src/base/json.ts';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { readExecutedTransaction } from '../../../src/decoding/transaction/read-executed-transaction.ts';
import type { JsonMembers } from '../../../src/solana/encoding/read-json.ts';

/** ../shared/data/rest: recorded node responses (see its README). */
const folder = join(import.meta.dirname, '../../../../shared/data/rest');

const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

export const hasRecordings = existsSync(folder);

type Stored = Readonly<{
  signature: string;
  slot: number;
  accountKeys: readonly string[];
  instructions: readonly JsonValue[];
  innerInstructions: readonly JsonMembers[];
  logMessages: readonly string[];
}>;

/** The recordings have heights of 0. */
function withoutHeight(list: JsonMembers): JsonMembers {
  const instructions = (list.instructions as JsonMembers[]).map(({ stackHeight: _, ...one }) => one);
  return { ...list, instructions: instructions as JsonValue };
}

function toExecuted({ signature, slot, accountKeys, ...ran }: Stored): JsonValue {
  const { instructions, innerInstructions, logMessages } = ran;
  const none = accountKeys.map(() => 0);
  return {
    ...{ slot, blockTime: null },
    transaction: {
      signatures: [signature],
      message: { accountKeys, header: { numRequiredSignatures: 1 }, instructions },
    },
    meta: {
      ...{ err: null, fee: 5000, preBalances: none, postBalances: none, logMessages },
      innerInstructions: innerInstructions.map(withoutHeight),
    },
  } as unknown as JsonValue;
}

/** Transactions of a scenario in metaplex/transactions.json, by the first instruction name in their logs. */
export function scenario(name: string): ExecutedTransaction[] {
  const all = parseJson(textOf('metaplex/transactions.json')) as unknown as Record<string, Stored[]>;
  return (all[name] ?? []).map((stored) => {
    const transaction = readExecutedTransaction(toExecuted(stored));
    if (transaction === null) throw new Error(`no transaction in ${name}`);
    return transaction;
  });
}

/** DAS asset of a scenario. */
export function assetOf(name: string): JsonMembers {
  const all = parseJson(textOf('metaplex/das-answers.json')) as Record<string, JsonMembers>;
  const [, asset] = Object.entries(all).find(([key]) => key.endsWith(`__${name}`)) ?? [];
  if (asset === undefined) throw new Error(`no answer for ${name}`);
  return asset;
}
