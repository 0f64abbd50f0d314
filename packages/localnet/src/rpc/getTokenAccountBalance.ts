import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  positional,
  readAddress,
  readStrictCommitment,
} from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { isTokenProgram } from '../../../../src/solana/programs.ts';
import { decodeTokenAccount } from '../../../../src/solana/token/token-state.ts';
import type { LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { mintFacts, tokenAmount } from './token-mint.ts';

/** `tokenAccount, {commitment}`; the config is strict. */
export function parseGetTokenAccountBalance(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

/** @throws RpcError -32602 if the account is missing or not a token account. */
export function getTokenAccountBalance(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, commitment } = parseGetTokenAccountBalance(params);
  const bank = node.bank(commitment);
  const account = bank.account(address);
  if (account === null) throw invalidParams('Invalid param: could not find account');
  const token = isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : null;
  if (token === null) throw invalidParams('Invalid param: not a Token account');
  return withContext(bank, tokenAmount(bank, token.amount, mintFacts(bank, token.mint).scale));
}
