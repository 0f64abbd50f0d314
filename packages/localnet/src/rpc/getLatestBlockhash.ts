import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { Bank, LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

type GetLatestBlockhashResult = Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }>;

/** Own blockhash of a bank with its last valid block height. */
export function latestBlockhash(bank: Bank): { blockhash: Blockhash; lastValidBlockHeight: bigint } {
  const lastValidBlockHeight = bank.lastValidBlockHeight(bank.blockhash);
  if (lastValidBlockHeight === null)
    throw new Error(`blockhash of slot ${bank.slot} is missing from recent blocks`);
  return { blockhash: bank.blockhash, lastValidBlockHeight };
}

export function getLatestBlockhash(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const bank = bankFor(node, readOnlyContextConfig(params));
  const value: GetLatestBlockhashResult = latestBlockhash(bank);
  return withContext(bank, value);
}
