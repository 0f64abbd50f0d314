import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  positional,
  readAddress,
  readStrictCommitment,
} from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import { type Address, compareAddresses } from '../../../../src/solana/address.ts';
import { decodeTokenAccount } from '../../../../src/solana/token/token-state.ts';
import type { LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import type { TokenAmount } from './token-amount.ts';
import { tokenAmount, tokenMintFacts } from './token-mint.ts';

/** At most 20, the largest first; inside a context. */
type GetTokenLargestAccountsResult = readonly (TokenAmount & Readonly<{ address: Address }>)[];

/** `mint, {commitment}`; the config is strict. */
export function parseGetTokenLargestAccounts(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

/** Source: Agave `NUM_LARGEST_ACCOUNTS`. */
const ACCOUNTS_MAX = 20;

type Holding = Readonly<{ address: Address; amount: bigint }>;

function largestFirst(a: Holding, b: Holding): number {
  if (a.amount !== b.amount) return a.amount > b.amount ? -1 : 1;
  return compareAddresses(b.address, a.address);
}

/** @throws RpcError -32602 for an unknown mint. */
export function getTokenLargestAccounts(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address: mint, commitment } = parseGetTokenLargestAccounts(params);
  const bank = node.bank(commitment);
  const { program, scale } = tokenMintFacts(bank, mint);
  const holdings: Holding[] = [];
  for (const [address, { owner, data }] of bank.tokenAccountsByMint(mint)) {
    if (owner === program) holdings.push({ address, amount: decodeTokenAccount(data)?.amount ?? 0n });
  }
  const value: GetTokenLargestAccountsResult = holdings
    .sort(largestFirst)
    .slice(0, ACCOUNTS_MAX)
    .map(({ address, amount }) => ({ address, ...tokenAmount(bank, amount, scale) }));
  return withContext(bank, value);
}
