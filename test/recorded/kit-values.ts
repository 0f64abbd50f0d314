import {
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type ReadonlyUint8Array,
} from '@solana/kit';
import { signatureBytes } from '../../src/solana/signature.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';

export type TransactionValues = Readonly<{
  version: 'legacy' | number;
  signatures: readonly string[];
  messageBytes: string;
  header: readonly [signers: number, readonlySigners: number, readonlyNonSigners: number];
  keys: readonly string[];
  blockhash: string;
  instructions: readonly { program: number; accounts: readonly number[]; data: string }[];
  lookups: readonly { table: string; writable: readonly number[]; readonly: readonly number[] }[];
}>;

const hex = (bytes: Uint8Array | ReadonlyUint8Array): string =>
  Buffer.from(bytes as Uint8Array).toString('hex');

export function kitValues(wire: Uint8Array): TransactionValues {
  const transaction = getTransactionDecoder().decode(wire);
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  if (message.version === 1) throw new Error('version 1');
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header;
  const lookups = 'addressTableLookups' in message ? (message.addressTableLookups ?? []) : [];
  return {
    version: message.version,
    signatures: Object.values(transaction.signatures).map((signature) =>
      hex(signature ?? new Uint8Array(64)),
    ),
    messageBytes: hex(transaction.messageBytes),
    header: [numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts],
    keys: message.staticAccounts,
    blockhash: message.lifetimeToken,
    instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
      program: programAddressIndex,
      accounts: [...(accountIndices ?? [])],
      data: hex(data ?? new Uint8Array()),
    })),
    lookups: lookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
      table: lookupTableAddress,
      writable: [...writableIndexes],
      readonly: [...readonlyIndexes],
    })),
  };
}

export function ourValues({ signatures, message, messageBytes }: Transaction): TransactionValues {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  return {
    version: message.version,
    signatures: signatures.map((signature) => hex(signatureBytes(signature))),
    messageBytes: hex(messageBytes),
    header: [numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts],
    keys: message.accountKeys,
    blockhash: message.recentBlockhash,
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
      program: programIdIndex,
      accounts: [...accounts],
      data: hex(data),
    })),
    lookups: message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      table: accountKey,
      writable: [...writableIndexes],
      readonly: [...readonlyIndexes],
    })),
  };
}
