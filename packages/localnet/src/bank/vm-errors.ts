import type {
  FailedTransactionMetadata,
  InstructionErrorBorshIO,
  InstructionErrorCustom,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
} from 'litesvm/dist/internal.js';
import {
  type InstructionError,
  instructionErrorVariants,
  type TransactionError,
  transactionErrorVariants,
} from '../../../../src/solana/transaction/transaction-error.ts';

/** The VM represents errors with fields by classes, which have no number. */
const withFields: ReadonlySet<string> = new Set([
  'InstructionError',
  'DuplicateInstruction',
  'InsufficientFundsForRent',
  'ProgramExecutionTemporarilyRestricted',
  'Custom',
]);

/** Numbered in reverse by the VM. */
const swapped: ReadonlyMap<string, 'ResanitizationNeeded' | 'InvalidLoadedAccountsDataSizeLimit'> = new Map([
  ['InvalidLoadedAccountsDataSizeLimit', 'ResanitizationNeeded'],
  ['ResanitizationNeeded', 'InvalidLoadedAccountsDataSizeLimit'],
] as const);

type TransactionVariant = Extract<TransactionError, string>;
type InstructionVariant = Extract<InstructionError, string>;

/** By the VM's numbers (`TransactionErrorFieldless`, which is a declaration only). */
export const transactionErrors = transactionErrorVariants
  .filter((name) => !withFields.has(name))
  .map((name): TransactionVariant => (swapped.get(name) ?? name) as TransactionVariant);

/** By the VM's numbers (`InstructionErrorFieldless`). The last one had a text in older releases. */
export const instructionErrors = [
  ...instructionErrorVariants.filter((name) => !withFields.has(name) && name !== 'BorshIoError'),
  'BorshIoError',
] as readonly InstructionVariant[];

/** Number for fieldless errors, else an instance of an error class. */
type NativeTransactionError = ReturnType<FailedTransactionMetadata['err']>;
type NativeInstructionError = number | InstructionErrorCustom | InstructionErrorBorshIO;

function instructionError(native: NativeInstructionError): InstructionError {
  if (typeof native === 'number') return instructionErrors[native] ?? 'GenericError';
  return 'code' in native ? { Custom: native.code } : 'BorshIoError';
}

type NativeObject =
  | TransactionErrorInstructionError
  | TransactionErrorDuplicateInstruction
  | TransactionErrorInsufficientFundsForRent
  | TransactionErrorProgramExecutionTemporarilyRestricted;

/** Classes are identified by name, because they have no tag. */
function objectError(native: NativeObject): TransactionError {
  if ('err' in native) {
    return { InstructionError: [native.index, instructionError(native.err() as NativeInstructionError)] };
  }
  if ('index' in native) return { DuplicateInstruction: native.index };
  const { accountIndex } = native;
  return native.constructor.name === 'TransactionErrorInsufficientFundsForRent'
    ? { InsufficientFundsForRent: { account_index: accountIndex } }
    : { ProgramExecutionTemporarilyRestricted: { account_index: accountIndex } };
}

export function transactionErrorOf(native: NativeTransactionError): TransactionError {
  if (typeof native === 'number') return transactionErrors[native] ?? 'CommitCancelled';
  return objectError(native as NativeObject);
}
