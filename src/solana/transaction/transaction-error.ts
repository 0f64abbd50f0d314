/**
 * What the runtime says of a failed transaction, in the shape in which JSON-RPC shows it: unit variants are
 * strings, the others one-member objects. Source: solana-transaction-error, solana-instruction-error.
 */
export type InstructionError = string | Readonly<{ Custom: number }>;

export type TransactionError =
  | string
  | Readonly<{ InstructionError: readonly [index: number, error: InstructionError] }>
  | Readonly<{ DuplicateInstruction: number }>
  | Readonly<{ InsufficientFundsForRent: Readonly<{ account_index: number }> }>
  | Readonly<{ ProgramExecutionTemporarilyRestricted: Readonly<{ account_index: number }> }>;
