import type { JsonValue } from '../../base/json.ts';
import { type AccountEncoding, accountEncodings } from '../../solana/encoding/ui-account.ts';
import { at, type ContextConfig, configObject, contextOf, positional } from './parameters.ts';
import {
  member,
  optional,
  readFlag,
  readPlainStruct,
  readString,
  readStrings,
  readVariant,
  required,
} from './serde.ts';
import { readEncoding, type WireEncoding, wireEncoding } from './transaction-encoding.ts';

/** The accounts whose state after the run is asked for. */
export type SimulatedAccounts = Readonly<{ encoding: AccountEncoding; addresses: readonly string[] }>;

export type SimulateTransactionParams = Readonly<{
  data: string;
  encoding: WireEncoding;
  sigVerify: boolean;
  replaceRecentBlockhash: boolean;
  innerInstructions: boolean;
  accounts: SimulatedAccounts | null;
  config: ContextConfig;
}>;

const readAccounts = (value: JsonValue): SimulatedAccounts => {
  const accounts = readPlainStruct(value, 'RpcSimulateTransactionAccountsConfig', ['encoding', 'addresses']);
  return {
    encoding:
      optional(member(accounts, 'encoding'), (name) => readVariant(name, accountEncodings)) ?? 'base64',
    addresses: required(accounts, 'addresses', readStrings),
  };
};

/** `transaction, {sigVerify, replaceRecentBlockhash, commitment, encoding, accounts, minContextSlot, innerInstructions}`. */
export function parseSimulateTransaction(params: JsonValue | undefined): SimulateTransactionParams {
  const list = positional(params, 1, 2);
  const data = at(list, 0, readString);
  const config = configObject(list[1], 'RpcSimulateTransactionConfig');
  const accounts = optional(member(config, 'accounts'), readAccounts);
  const encoding = readEncoding(member(config, 'encoding'));
  const innerInstructions = readFlag(config, 'innerInstructions');
  const context = contextOf(config);
  const flags = {
    innerInstructions,
    replaceRecentBlockhash: readFlag(config, 'replaceRecentBlockhash'),
    sigVerify: readFlag(config, 'sigVerify'),
  };
  return { data, encoding: wireEncoding(encoding), ...flags, accounts, config: context };
}
