import { type ByteReader, ByteWriter, readOrNull } from '../../base/bytes.ts';

/**
 * JSON-RPC form: unit variants are strings, others one-member objects. Source: solana-transaction-error,
 * solana-instruction-error.
 */
export type InstructionError = string | Readonly<{ Custom: number }>;

export type TransactionError =
  | string
  | Readonly<{ InstructionError: readonly [index: number, error: InstructionError] }>
  | Readonly<{ DuplicateInstruction: number }>
  | Readonly<{ InsufficientFundsForRent: Readonly<{ account_index: number }> }>
  | Readonly<{ ProgramExecutionTemporarilyRestricted: Readonly<{ account_index: number }> }>;

/** bincode order. Source: solana-transaction-error, `TransactionError`. */
export const transactionErrorVariants = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'InstructionError',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'DuplicateInstruction',
  'InsufficientFundsForRent',
  'MaxLoadedAccountsDataSizeExceeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'ResanitizationNeeded',
  'ProgramExecutionTemporarilyRestricted',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const;

/** bincode order. Source: solana-instruction-error, `InstructionError`. */
export const instructionErrorVariants = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'Custom',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'BorshIoError',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
] as const;

/** `BorshIoError` had a text before SDK 3; data after a known variant is ignored. */
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
 * Decodes a stored error: bincode, u32 variants.
 * @returns null when unknown.
 */
export const decodeTransactionError = (bytes: Uint8Array): TransactionError | null =>
  readOrNull(bytes, readTransactionError);

/** @returns false for an unknown variant. */
function writeVariant(writer: ByteWriter, variants: readonly string[], name: string): boolean {
  const variant = variants.indexOf(name);
  if (variant >= 0) writer.u32(variant);
  return variant >= 0;
}

function writeInstructionError(writer: ByteWriter, error: InstructionError): boolean {
  if (typeof error === 'string') return writeVariant(writer, instructionErrorVariants, error);
  writeVariant(writer, instructionErrorVariants, 'Custom');
  writer.u32(error.Custom);
  return true;
}

function writeTransactionError(writer: ByteWriter, error: TransactionError): boolean {
  if (typeof error === 'string') return writeVariant(writer, transactionErrorVariants, error);
  const [[name, content]] = Object.entries(error) as [[string, unknown]];
  writeVariant(writer, transactionErrorVariants, name);
  if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError;
    writer.u8(index);
    return writeInstructionError(writer, inner);
  }
  writer.u8(typeof content === 'number' ? content : (content as { account_index: number }).account_index);
  return true;
}

/**
 * Inverse of `decodeTransactionError`.
 * @returns null when unknown.
 */
export function encodeTransactionError(error: TransactionError): Uint8Array | null {
  const writer = new ByteWriter(16);
  return writeTransactionError(writer, error) ? writer.finish() : null;
}
