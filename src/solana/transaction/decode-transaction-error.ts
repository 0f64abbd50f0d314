import { type ByteReader, readOrNull } from '../../base/bytes.ts';
import { instructionErrorVariants, transactionErrorVariants } from './error-variants.ts';
import type { InstructionError, TransactionError } from './transaction-error.ts';

/** `BorshIoError` carried a text until SDK 3; what follows a variant that is known is not read. */
function readInstructionError(reader: ByteReader): InstructionError | null {
  const name = instructionErrorVariants[reader.u32()];
  if (name === undefined) return null;
  return name === 'Custom' ? { Custom: reader.u32() } : name;
}

function readTransactionError(reader: ByteReader): TransactionError | null {
  const name = transactionErrorVariants[reader.u32()];
  switch (name) {
    case undefined:
      return null;
    case 'InstructionError': {
      const index = reader.u8();
      const error = readInstructionError(reader);
      return error === null ? null : { InstructionError: [index, error] };
    }
    case 'DuplicateInstruction':
      return { DuplicateInstruction: reader.u8() };
    case 'InsufficientFundsForRent':
      return { InsufficientFundsForRent: { account_index: reader.u8() } };
    case 'ProgramExecutionTemporarilyRestricted':
      return { ProgramExecutionTemporarilyRestricted: { account_index: reader.u8() } };
    default:
      return name;
  }
}

/**
 * Reads a transaction's error as nodes store it: bincode, u32 variants.
 * @returns null when it is none that is known.
 */
export const decodeTransactionError = (bytes: Uint8Array): TransactionError | null =>
  readOrNull(bytes, readTransactionError);
