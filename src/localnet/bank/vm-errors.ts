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
} from '../../solana/transaction/transaction-error.ts';

/** What carries fields has a class of its own in the VM, and no number. */
const withFields: ReadonlySet<string> = new Set([
  'InstructionError',
  'DuplicateInstruction',
  'InsufficientFundsForRent',
  'ProgramExecutionTemporarilyRestricted',
  'Custom',
]);

/** The VM numbers these two the other way round. */
const swapped: ReadonlyMap<string, 'ResanitizationNeeded' | 'InvalidLoadedAccountsDataSizeLimit'> = new Map([
  ['InvalidLoadedAccountsDataSizeLimit', 'ResanitizationNeeded'],
  ['ResanitizationNeeded', 'InvalidLoadedAccountsDataSizeLimit'],
] as const);

type TransactionVariant = Extract<TransactionError, string>;
type InstructionVariant = Extract<InstructionError, string>;

/** By the VM's own numbers: `TransactionErrorFieldless` of its declarations, which do not exist at run time. */
export const transactionErrors = transactionErrorVariants
  .filter((name) => !withFields.has(name))
  .map((name): TransactionVariant => (swapped.get(name) ?? name) as TransactionVariant);

/** By the VM's own numbers: `InstructionErrorFieldless`, which ends with the one that once carried a text. */
export const instructionErrors = [
  ...instructionErrorVariants.filter((name) => !withFields.has(name) && name !== 'BorshIoError'),
  'BorshIoError',
] as readonly InstructionVariant[];

/** Any error the VM reports: a number for those without fields, else an object of one of its classes. */
export type NativeTransactionError = ReturnType<FailedTransactionMetadata['err']>;
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

/** The names of the VM's error classes, compared by name because the classes carry no tag. */
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

/** The error of a run, in the shape in which the ledger and JSON-RPC show it. */
export function transactionErrorOf(native: NativeTransactionError): TransactionError {
  if (typeof native === 'number') return transactionErrors[native] ?? 'CommitCancelled';
  return objectError(native as NativeObject);
}
