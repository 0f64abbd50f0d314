import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  member,
  optional,
  readFlag,
  readPlainStruct,
  readString,
  readStrings,
  readVariant,
  required,
} from '../../../../src/protocol/rpc/serde.ts';
import {
  type BinaryEncoding,
  binaryEncoding,
  readEncoding,
} from '../../../../src/protocol/rpc/transaction-encoding.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type AccountEncoding, accountEncodings } from '../../../../src/solana/encoding/encodings.ts';
import { encodeInnerInstructions } from '../../../../src/solana/encoding/ui-instruction.ts';
import { encodeReturnData, encodeTokenBalances } from '../../../../src/solana/encoding/ui-meta.ts';
import type { LoadedAddresses } from '../../../../src/solana/message/message.ts';
import { allKeys } from '../../../../src/solana/message/message-keys.ts';
import type { Bank, LocalNode, Simulation } from '../node.ts';
import { accountJson } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { decodeTransactionText, requireSanitized } from './decode-wire.ts';
import { findMint } from './token-mint.ts';

/** Accounts to return after the execution. */
type SimulatedAccounts = Readonly<{ encoding: AccountEncoding; addresses: readonly string[] }>;

type SimulateTransactionParams = Readonly<{
  data: string;
  encoding: BinaryEncoding;
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
  return { data, encoding: binaryEncoding(encoding), ...flags, accounts, config: context };
}

/** Requested accounts after the execution; all null if it failed. */
function encodeAccounts(
  { encoding, addresses }: SimulatedAccounts,
  simulation: Simulation,
  bank: Bank,
  keyCount: number,
): WritableJson {
  if (encoding === 'binary' || encoding === 'base58') throw invalidParams('base58 encoding not supported');
  if (addresses.length > keyCount) throw invalidParams(`Too many accounts provided; max ${keyCount}`);
  if (simulation.err !== null) return addresses.map(() => null);
  const read = (address: Address): Account | null =>
    simulation.postAccounts.get(address) ?? bank.account(address);
  const mint = (address: Address) => findMint({ account: read }, address)?.scale ?? null;
  const lookup = { mint, unixTimestamp: bank.clock.unixTimestamp };
  const view = { encoding, dataSlice: null, lookup };
  return addresses.map((text) => {
    const address = readAddress(text);
    const account = read(address);
    return account === null ? null : accountJson(address, account, view);
  });
}

function encodeValue(
  simulation: Simulation,
  accounts: WritableJson,
  innerInstructions: WritableJson,
  loaded: LoadedAddresses,
): WritableJson {
  const { preTokenBalances, postTokenBalances, returnData } = simulation;
  return {
    accounts,
    err: simulation.err,
    fee: simulation.fee,
    innerInstructions,
    loadedAccountsDataSize: simulation.loadedAccountsDataSize,
    loadedAddresses: { readonly: loaded.readonly, writable: loaded.writable },
    logs: simulation.logs,
    postBalances: simulation.postBalances,
    postTokenBalances: postTokenBalances === null ? null : encodeTokenBalances(postTokenBalances),
    preBalances: simulation.preBalances,
    preTokenBalances: preTokenBalances === null ? null : encodeTokenBalances(preTokenBalances),
    replacementBlockhash: simulation.replacementBlockhash,
    returnData: returnData === null ? null : encodeReturnData(returnData),
    unitsConsumed: simulation.unitsConsumed,
  };
}

function rejectContradiction({ sigVerify, replaceRecentBlockhash }: SimulateTransactionParams): void {
  if (sigVerify && replaceRecentBlockhash) {
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  }
}

/** Check order as in Agave; reference §1.10. */
export function simulateTransaction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseSimulateTransaction(params);
  const { transaction } = decodeTransactionText(parsed.data, parsed.encoding);
  const bank = bankFor(node, parsed.config);
  rejectContradiction(parsed);
  const loaded = requireSanitized(transaction, bank);
  const simulation = node.simulate(transaction, bank, parsed);
  const keys = allKeys(transaction.message, loaded);
  const accounts =
    parsed.accounts === null ? null : encodeAccounts(parsed.accounts, simulation, bank, keys.length);
  const inner =
    simulation.innerInstructions === null
      ? null
      : encodeInnerInstructions(simulation.innerInstructions, keys);
  return withContext(bank, encodeValue(simulation, accounts, inner, loaded));
}
