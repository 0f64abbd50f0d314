import { describe, expect, it } from 'vitest';
import type { TransactionError } from './transaction-error.ts';
import { displayTransactionError } from './transaction-error.ts';

describe('transaction error text', () => {
  it.each<[TransactionError, string]>([
    ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
    ['BlockhashNotFound', 'Blockhash not found'],
    ['InsufficientFundsForFee', 'Insufficient funds for fee'],
    ['AlreadyProcessed', 'This transaction has already been processed'],
    ['SignatureFailure', 'Transaction did not pass signature verification'],
    ['SanitizeFailure', 'Transaction failed to sanitize accounts offsets correctly'],
    ['AddressLookupTableNotFound', "Transaction loads an address table account that doesn't exist"],
    ['ResanitizationNeeded', 'ResanitizationNeeded'],
    [
      { InsufficientFundsForRent: { account_index: 0 } },
      'Transaction results in an account (0) with insufficient funds for rent',
    ],
    [{ DuplicateInstruction: 2 }, 'Transaction contains a duplicate instruction (2) that is not allowed'],
    [
      { ProgramExecutionTemporarilyRestricted: { account_index: 3 } },
      'Execution of the program referenced by account at index 3 is temporarily restricted.',
    ],
    [{ InstructionError: [0, { Custom: 1 }] }, 'Error processing Instruction 0: custom program error: 0x1'],
    [{ InstructionError: [0, { Custom: 0 }] }, 'Error processing Instruction 0: custom program error: 0x0'],
    [
      { InstructionError: [1, 'InvalidAccountData'] },
      'Error processing Instruction 1: invalid account data for instruction',
    ],
  ])('matches Agave for %j', (error, text) => {
    expect(displayTransactionError(error)).toBe(text);
  });

  it('is the name of an unknown error', () => {
    expect(displayTransactionError('SomethingNew')).toBe('SomethingNew');
    expect(displayTransactionError({ InstructionError: [2, 'SomethingNew'] })).toBe(
      'Error processing Instruction 2: SomethingNew',
    );
  });
});
