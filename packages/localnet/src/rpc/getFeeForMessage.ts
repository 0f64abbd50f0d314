import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { resolveLookups } from '../../../../src/solana/address-lookup-table.ts';
import type { Message } from '../../../../src/solana/message/message.ts';
import { matchingNonce, nonceOfTransaction } from '../../../../src/solana/nonce.ts';
import { feeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import { messageFault } from '../../../../src/solana/transaction/sanitize-transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { Lamports } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';
import { decodeMessageText } from './decode-wire.ts';

/** `message, {commitment, minContextSlot}`; the message is base64. */
export function parseGetFeeForMessage(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  return { data: at(list, 0, readString), config: readContextConfig(list[1]) };
}

/** Source: solana-message, `AddressLoaderError`. */
const LOOKUP_FAULTS: Readonly<Record<string, string>> = {
  AddressLookupTableNotFound: 'Attempted to lookup addresses from a table that does not exist',
  InvalidAddressLookupTableOwner: 'Attempted to lookup addresses from an account owned by the wrong program',
  InvalidAddressLookupTableData: 'Attempted to lookup addresses from an invalid account',
  InvalidAddressLookupTableIndex: 'Address lookup contains an invalid index',
};

const describe = (fault: TransactionError): string =>
  typeof fault === 'string' ? (LOOKUP_FAULTS[fault] ?? fault) : 'invalid value';

function requireSane(message: Message, bank: Bank): void {
  const fault = messageFault(message);
  if (fault !== null) throw invalidParams(`invalid transaction message: ${fault}`);
  const resolved = resolveLookups(message, (address) => bank.account(address), bank.slot);
  if ('fault' in resolved) throw invalidParams(`invalid transaction message: ${describe(resolved.fault)}`);
}

/** Whether the message uses a durable nonce with its current value. */
function hasValidNonce(message: Message, bank: Bank): boolean {
  const use = nonceOfTransaction(message);
  return use !== null && matchingNonce(bank.account(use.account), message.recentBlockhash) !== null;
}

/** null for an unknown blockhash. */
export function getFeeForMessage(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { data, config } = parseGetFeeForMessage(params);
  const message = decodeMessageText(data);
  const bank = bankFor(node, config);
  requireSane(message, bank);
  const known = bank.lastValidBlockHeight(message.recentBlockhash) !== null || hasValidNonce(message, bank);
  const fee: Lamports | null = known ? feeOf(message) : null;
  return withContext(bank, fee);
}
