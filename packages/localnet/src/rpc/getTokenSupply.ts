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
import { decodeMintScale } from '../../../../src/solana/token/extensions.ts';
import { decodeMint } from '../../../../src/solana/token/token-state.ts';
import type { LocalNode } from '../node.ts';
import { withContext } from './context.ts';
import { tokenAmount } from './token-mint.ts';

/** `mint, {commitment}`; the config is strict. */
export function parseGetTokenSupply(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

/** @throws RpcError -32602 if the account is missing or not a mint. */
export function getTokenSupply(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, commitment } = parseGetTokenSupply(params);
  const bank = node.bank(commitment);
  const account = bank.account(address);
  if (account === null) throw invalidParams('Invalid param: could not find account');
  if (!isTokenProgram(account.owner)) throw invalidParams('Invalid param: not a Token mint');
  const mint = decodeMint(account.data);
  const scale = decodeMintScale(account.data);
  if (mint === null || scale === null) throw invalidParams('Invalid param: mint could not be unpacked');
  return withContext(bank, tokenAmount(bank, mint.supply, scale));
}
