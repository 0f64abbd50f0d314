import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import {
  parseSimulateTransaction,
  type SimulatedAccounts,
  type SimulateTransactionParams,
} from '../../../../src/protocol/rpc/simulateTransaction.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { encodeInnerInstructions } from '../../../../src/solana/encoding/ui-instruction.ts';
import { encodeReturnData, encodeTokenBalances } from '../../../../src/solana/encoding/ui-meta.ts';
import type { LoadedAddresses } from '../../../../src/solana/message/message.ts';
import { allKeys } from '../../../../src/solana/message/message-keys.ts';
import type { Bank, LocalNode, Simulation } from '../node.ts';
import { accountJson } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { decodeTransactionText, requireSanitized } from './decode-wire.ts';
import { findMint } from './token-mint.ts';

/** Requested accounts after the run; nulls after a failure. */
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
