import type { WritableJson } from '../../base/json.ts';
import { encodeBase58 } from '../base58.ts';
import type { ExecutedTransaction } from '../block.ts';
import type { LoadedAddresses, Message } from '../message/message.ts';
import { allKeys, isSigner, isWritable } from '../message/message-keys.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { TransactionDetails, TransactionEncoding } from './encodings.ts';
import {
  encodeParsedInstruction,
  encodeRawInstruction,
  TRANSACTION_LEVEL_STACK_HEIGHT,
} from './ui-instruction.ts';
import { encodeMeta, encodeSimpleMeta } from './ui-meta.ts';

function encodeLookups(message: Message): WritableJson {
  if (message.version !== 0) return undefined;
  return message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
    accountKey,
    readonlyIndexes: [...readonlyIndexes],
    writableIndexes: [...writableIndexes],
  }));
}

const encodeConfig = (config: Message['config']): WritableJson =>
  config && {
    computeUnitLimit: config.computeUnitLimit,
    heapSize: config.heapSize,
    loadedAccountsDataSizeLimit: config.loadedAccountsDataSizeLimit,
    priorityFee: config.priorityFee,
  };

function encodeRawMessage(message: Message): WritableJson {
  const { numReadonlySignedAccounts, numReadonlyUnsignedAccounts, numRequiredSignatures } = message.header;
  return {
    accountKeys: message.accountKeys,
    addressTableLookups: encodeLookups(message),
    header: { numReadonlySignedAccounts, numReadonlyUnsignedAccounts, numRequiredSignatures },
    instructions: message.instructions.map((instruction) =>
      encodeRawInstruction(instruction, TRANSACTION_LEVEL_STACK_HEIGHT),
    ),
    recentBlockhash: message.recentBlockhash,
    transactionConfig: encodeConfig(message.config),
  };
}

function encodeAccountKeys(message: Message, loaded: LoadedAddresses): WritableJson {
  return allKeys(message, loaded).map((pubkey, index) => ({
    pubkey,
    signer: isSigner(message, index),
    source: index < message.accountKeys.length ? 'transaction' : 'lookupTable',
    writable: isWritable(message, index, loaded),
  }));
}

function encodeParsedMessage(message: Message, loaded: LoadedAddresses): WritableJson {
  const keys = allKeys(message, loaded);
  return {
    accountKeys: encodeAccountKeys(message, loaded),
    addressTableLookups: encodeLookups(message),
    instructions: message.instructions.map((instruction) =>
      encodeParsedInstruction(instruction, keys, TRANSACTION_LEVEL_STACK_HEIGHT),
    ),
    recentBlockhash: message.recentBlockhash,
    transactionConfig: encodeConfig(message.config),
  };
}

function encodeUiTransaction(
  transaction: Transaction,
  encoding: TransactionEncoding,
  loaded: LoadedAddresses,
): WritableJson {
  const { signatures, message, wire } = transaction;
  switch (encoding) {
    case 'binary':
      return encodeBase58(wire);
    case 'base58':
      return [encodeBase58(wire), 'base58'];
    case 'base64':
      return [Buffer.from(wire).toString('base64'), 'base64'];
    case 'json':
      return { message: encodeRawMessage(message), signatures };
    case 'jsonParsed':
      return { message: encodeParsedMessage(message, loaded), signatures };
  }
}

function encodeFull(
  { transaction, meta }: ExecutedTransaction,
  encoding: TransactionEncoding,
  showRewards: boolean,
) {
  const loaded = meta.loadedAddresses;
  const parsedKeys = encoding === 'jsonParsed' ? allKeys(transaction.message, loaded) : null;
  return {
    meta: encodeMeta(meta, { parsedKeys, showRewards }),
    transaction: encodeUiTransaction(transaction, encoding, loaded),
  };
}

function encodeAccounts({ transaction, meta }: ExecutedTransaction, showRewards: boolean) {
  return {
    meta: encodeSimpleMeta(meta, showRewards),
    transaction: {
      accountKeys: encodeAccountKeys(transaction.message, meta.loadedAddresses),
      signatures: transaction.signatures,
    },
  };
}

/**
 * `version` is present only if the caller set a maximum version. If `details` is `signatures` or `none`, every version
 * is supported.
 * Source: transaction-status/src/lib.rs, `VersionedTransactionWithStatusMeta`.
 * @param maxSupportedTransactionVersion - undefined: only legacy transactions.
 * @returns `unsupportedVersion` if the response must be error -32015.
 */
export function encodeTransactionWithMeta(
  executed: ExecutedTransaction,
  encoding: TransactionEncoding,
  maxSupportedTransactionVersion: number | undefined,
  details: TransactionDetails,
  showRewards = true,
): { json: WritableJson } | { unsupportedVersion: number } {
  if (details === 'none') return { json: null };
  if (details === 'signatures') return { json: executed.transaction.signatures[0] ?? null };
  const { version } = executed.transaction.message;
  if (version !== 'legacy' && version > (maxSupportedTransactionVersion ?? -1)) {
    return { unsupportedVersion: version };
  }
  const shown =
    details === 'accounts'
      ? encodeAccounts(executed, showRewards)
      : encodeFull(executed, encoding, showRewards);
  const shownVersion = maxSupportedTransactionVersion === undefined ? undefined : version;
  return { json: { ...shown, version: shownVersion } };
}
