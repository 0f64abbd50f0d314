import { type ByteReader, ByteWriter } from '../../base/bytes.ts';
import { readOrNull } from '../codec.ts';

/** Unit variants are strings. Sources: solana-transaction-error, solana-instruction-error. */
export type InstructionError = string | Readonly<{ Custom: number }>;

export type TransactionError =
  | string
  | Readonly<{ InstructionError: readonly [index: number, error: InstructionError] }>
  | Readonly<{ DuplicateInstruction: number }>
  | Readonly<{ InsufficientFundsForRent: Readonly<{ account_index: number }> }>
  | Readonly<{ ProgramExecutionTemporarilyRestricted: Readonly<{ account_index: number }> }>;

/** Display texts in bincode order; empty for variants that carry data. Source: solana-transaction-error. */
const transactionErrors = {
  AccountInUse: 'Account in use',
  AccountLoadedTwice: 'Account loaded twice',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InstructionError: '',
  CallChainTooDeep: 'Loader call chain is too deep',
  MissingSignatureForFee: 'Transaction requires a fee but has no signature present',
  InvalidAccountIndex: 'Transaction contains an invalid account reference',
  SignatureFailure: 'Transaction did not pass signature verification',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  ClusterMaintenance: 'Transactions are currently disabled due to cluster maintenance',
  AccountBorrowOutstanding: 'Transaction processing left an account with an outstanding borrowed reference',
  WouldExceedMaxBlockCostLimit: 'Transaction would exceed max Block Cost Limit',
  UnsupportedVersion: 'Transaction version is unsupported',
  InvalidWritableAccount: 'Transaction loads a writable account that cannot be written',
  WouldExceedMaxAccountCostLimit: 'Transaction would exceed max account limit within the block',
  WouldExceedAccountDataBlockLimit: 'Transaction would exceed account data limit within the block',
  TooManyAccountLocks: 'Transaction locked too many accounts',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: 'Transaction loads an address table account with an invalid owner',
  InvalidAddressLookupTableData: 'Transaction loads an address table account with invalid data',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
  InvalidRentPayingAccount: 'Transaction leaves an account with a lower balance than rent-exempt minimum',
  WouldExceedMaxVoteCostLimit: 'Transaction would exceed max Vote Cost Limit',
  WouldExceedAccountDataTotalLimit: 'Transaction would exceed total account data limit',
  DuplicateInstruction: '',
  InsufficientFundsForRent: '',
  MaxLoadedAccountsDataSizeExceeded: 'Transaction exceeded max loaded accounts data size cap',
  InvalidLoadedAccountsDataSizeLimit:
    'LoadedAccountsDataSizeLimit set for transaction must be greater than 0.',
  ResanitizationNeeded: 'ResanitizationNeeded',
  ProgramExecutionTemporarilyRestricted: '',
  UnbalancedTransaction: 'Sum of account balances before and after transaction do not match',
  ProgramCacheHitMaxLimit: 'Program cache hit max limit',
  CommitCancelled: 'CommitCancelled',
} as const;

/** Display texts in bincode order; empty for variants that carry data. Source: solana-instruction-error. */
const instructionErrors = {
  GenericError: 'generic instruction error',
  InvalidArgument: 'invalid program argument',
  InvalidInstructionData: 'invalid instruction data',
  InvalidAccountData: 'invalid account data for instruction',
  AccountDataTooSmall: 'account data too small for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  IncorrectProgramId: 'incorrect program id for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  AccountAlreadyInitialized: 'instruction requires an uninitialized account',
  UninitializedAccount: 'instruction requires an initialized account',
  UnbalancedInstruction: 'sum of account balances before and after instruction do not match',
  ModifiedProgramId: 'instruction illegally modified the program id of an account',
  ExternalAccountLamportSpend: 'instruction spent from the balance of an account it does not own',
  ExternalAccountDataModified: 'instruction modified data of an account it does not own',
  ReadonlyLamportChange: 'instruction changed the balance of a read-only account',
  ReadonlyDataModified: 'instruction modified data of a read-only account',
  DuplicateAccountIndex: 'instruction contains duplicate accounts',
  ExecutableModified: 'instruction changed executable bit of an account',
  RentEpochModified: 'instruction modified rent epoch of an account',
  NotEnoughAccountKeys: 'insufficient account keys for instruction',
  AccountDataSizeChanged: "program other than the account's owner changed the size of the account data",
  AccountNotExecutable: 'instruction expected an executable account',
  AccountBorrowFailed: 'instruction tries to borrow reference for an account which is already borrowed',
  AccountBorrowOutstanding: 'instruction left account with an outstanding borrowed reference',
  DuplicateAccountOutOfSync: 'instruction modifications of multiply-passed account differ',
  Custom: '',
  InvalidError: 'program returned invalid error code',
  ExecutableDataModified: 'instruction changed executable accounts data',
  ExecutableLamportChange: 'instruction changed the balance of an executable account',
  ExecutableAccountNotRentExempt: 'executable accounts must be rent exempt',
  UnsupportedProgramId: 'Unsupported program id',
  CallDepth: 'Cross-program invocation call depth too deep',
  MissingAccount: 'An account required by the instruction is missing',
  ReentrancyNotAllowed: 'Cross-program invocation reentrancy not allowed for this instruction',
  MaxSeedLengthExceeded: 'Length of the seed is too long for address generation',
  InvalidSeeds: 'Provided seeds do not result in a valid address',
  InvalidRealloc: 'Failed to reallocate account data',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  PrivilegeEscalation: 'Cross-program invocation with unauthorized signer or writable account',
  ProgramEnvironmentSetupFailure: 'Failed to create program execution environment',
  ProgramFailedToComplete: 'Program failed to complete',
  ProgramFailedToCompile: 'Program failed to compile',
  Immutable: 'Account is immutable',
  IncorrectAuthority: 'Incorrect authority provided',
  BorshIoError: 'Failed to serialize or deserialize account data',
  AccountNotRentExempt: 'An account does not have enough lamports to be rent-exempt',
  InvalidAccountOwner: 'Invalid account owner',
  ArithmeticOverflow: 'Program arithmetic overflowed',
  UnsupportedSysvar: 'Unsupported sysvar',
  IllegalOwner: 'Provided owner is not allowed',
  MaxAccountsDataAllocationsExceeded:
    'Accounts data allocations exceeded the maximum allowed per transaction',
  MaxAccountsExceeded: 'Max accounts exceeded',
  MaxInstructionTraceLengthExceeded: 'Max instruction trace length exceeded',
  BuiltinProgramsMustConsumeComputeUnits: 'Builtin programs must consume compute units',
} as const;

export const transactionErrorVariants = Object.keys(transactionErrors) as (keyof typeof transactionErrors)[];
export const instructionErrorVariants = Object.keys(instructionErrors) as (keyof typeof instructionErrors)[];

/** Ignores data after the variant: `BorshIoError` carried a string before SDK 3. */
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

/** Decodes bincode with u32 discriminants. @returns null if unknown or malformed. */
export const decodeTransactionError = (bytes: Uint8Array): TransactionError | null =>
  readOrNull(bytes, readTransactionError);

function writeVariant(writer: ByteWriter, variants: readonly string[], name: string): boolean {
  const variant = variants.indexOf(name);
  if (variant >= 0) writer.u32(variant);
  return variant >= 0;
}

function writeTransactionError(writer: ByteWriter, error: TransactionError): boolean {
  if (typeof error === 'string') return writeVariant(writer, transactionErrorVariants, error);
  const [[name, content]] = Object.entries(error) as [[string, unknown]];
  writeVariant(writer, transactionErrorVariants, name);
  if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError;
    writer.u8(index);
    if (typeof inner === 'string') return writeVariant(writer, instructionErrorVariants, inner);
    writeVariant(writer, instructionErrorVariants, 'Custom');
    writer.u32(inner.Custom);
    return true;
  }
  writer.u8(typeof content === 'number' ? content : (content as { account_index: number }).account_index);
  return true;
}

/** @returns null if the error is unknown. */
export function encodeTransactionError(error: TransactionError): Uint8Array | null {
  const writer = new ByteWriter(16);
  return writeTransactionError(writer, error) ? writer.finish() : null;
}

type Texts = Readonly<Record<string, string>>;

/** Agave's `Display` text; unknown names pass through. */
function displayInstructionError(error: InstructionError): string {
  if (typeof error === 'string') return (instructionErrors as Texts)[error] || error;
  return `custom program error: 0x${error.Custom.toString(16)}`;
}

export function displayTransactionError(error: TransactionError): string {
  if (typeof error === 'string') return (transactionErrors as Texts)[error] || error;
  if ('InstructionError' in error) {
    const [index, inner] = error.InstructionError;
    return `Error processing Instruction ${index}: ${displayInstructionError(inner)}`;
  }
  if ('DuplicateInstruction' in error) {
    return `Transaction contains a duplicate instruction (${error.DuplicateInstruction}) that is not allowed`;
  }
  if ('InsufficientFundsForRent' in error) {
    const index = error.InsufficientFundsForRent.account_index;
    return `Transaction results in an account (${index}) with insufficient funds for rent`;
  }
  const index = error.ProgramExecutionTemporarilyRestricted.account_index;
  return `Execution of the program referenced by account at index ${index} is temporarily restricted.`;
}
