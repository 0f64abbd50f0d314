import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { resolveLookups } from '../../../../src/solana/address-lookup-table.ts';
import type { LoadedAddresses } from '../../../../src/solana/message/message.ts';
import { allKeys, isWritable } from '../../../../src/solana/message/message-keys.ts';
import { decodeNonce, durableNonceOf, encodeNonce, type NonceUse } from '../../../../src/solana/nonce.ts';
import { computeBudgetOf, feeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import {
  accountLocksFault,
  sanitizeTransaction,
} from '../../../../src/solana/transaction/sanitize-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { type Lamports, lamports, type Slot } from '../../../../src/solana/units.ts';
import { type RecordedMeta, tokenBalancesOf } from './token-balances.ts';
import { afterFee, costUnitsOf, feePayerError, loadedDataSizeOf } from './transaction-checks.ts';
import type { StateView, Vm, VmRun } from './vm.ts';
import { isSameAccount, programDataAddressOf } from './vm-accounts.ts';

/** Result of a transaction whose fee was charged. */
export type Execution = Readonly<{
  meta: RecordedMeta;
  /** false when only the fee was charged. */
  executed: boolean;
  loadedAccountsDataSize: number;
  /** Changed accounts; null if the balance is 0. */
  writes: ReadonlyMap<Address, Account | null>;
  keys: readonly Address[];
  /** Writable accounts after the run; empty after a failure. */
  postAccounts: ReadonlyMap<Address, Account>;
}>;

/** The fee cannot be charged: the transaction is not part of a block. */
export type Rejection = Readonly<{ rejected: TransactionError }>;

/** Load failures for which the fee is still charged. Source: SIMD-0191. */
const chargedLoadFailures: ReadonlySet<TransactionError> = new Set([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
]);

type Prepared = Readonly<{
  keys: readonly Address[];
  loaded: LoadedAddresses;
  fee: Lamports;
  payer: Account;
  /** Bytes. */
  loadedAccountsDataSizeLimit: number;
}>;

/**
 * Executes a transaction without side effects. Signatures, blockhash age and replays are not checked.
 * @param nonce - durable nonce; a failed transaction advances it too.
 */
export function executeTransaction(
  transaction: Transaction,
  nonce: NonceUse | null,
  view: StateView & { readonly clock: { readonly slot: Slot } },
  vm: Vm,
): Execution | Rejection {
  const prepared = prepare(transaction, view);
  if ('rejected' in prepared) return prepared;
  const run = vm.run(transaction, prepared.loaded, view);
  if (!run.executed && !chargedLoadFailures.has(run.err ?? ''))
    return { rejected: run.err ?? 'CommitCancelled' };
  const writes =
    run.err === null ? changedAccounts(run, view) : failureWrites(transaction, prepared, nonce, view);
  return describe(transaction, prepared, run, writes, view);
}

/** Why the fee cannot be charged, as far as known before execution; else null. */
export function feePaymentError(
  transaction: Transaction,
  view: StateView & { readonly clock: { readonly slot: Slot } },
): TransactionError | null {
  const prepared = prepare(transaction, view);
  return 'rejected' in prepared ? prepared.rejected : null;
}

function prepare(
  transaction: Transaction,
  view: StateView & { readonly clock: { readonly slot: Slot } },
): Prepared | Rejection {
  const { message } = transaction;
  if (sanitizeTransaction(transaction) !== null) return { rejected: 'SanitizeFailure' };
  const resolved = resolveLookups(message, (address) => view.account(address), view.clock.slot);
  if ('fault' in resolved) return { rejected: resolved.fault };
  const { loaded } = resolved;
  const locks = accountLocksFault(message, loaded);
  if (locks !== null) return { rejected: locks };
  const budget = computeBudgetOf(message);
  if ('fault' in budget) return { rejected: budget.fault };
  const fee = feeOf(message);
  const payer = view.account(message.accountKeys[0] as Address);
  const fault = feePayerError(payer, fee);
  if (fault !== null || payer === null) return { rejected: fault ?? 'AccountNotFound' };
  const { loadedAccountsDataSizeLimit } = budget;
  return { keys: allKeys(message, loaded), loaded, fee, payer, loadedAccountsDataSizeLimit };
}

function changedAccounts(run: VmRun, view: StateView): Map<Address, Account | null> {
  const writes = new Map<Address, Account | null>();
  for (const [address, after] of run.postAccounts) {
    const before = view.account(address);
    if (after.lamports === 0n) {
      if (before !== null) writes.set(address, null);
    } else if (before === null || !isSameAccount(before, after)) {
      writes.set(address, after);
    }
  }
  return writes;
}

/** Writes of a failed transaction: the fee, and the advanced nonce, so that it cannot be executed again. */
function failureWrites(
  { message }: Transaction,
  { fee, payer }: Prepared,
  nonce: NonceUse | null,
  view: StateView,
): Map<Address, Account | null> {
  const payerAddress = message.accountKeys[0] as Address;
  const writes = new Map<Address, Account | null>([[payerAddress, afterFee(payer, fee)]]);
  if (nonce === null) return writes;
  const account = writes.get(nonce.account) ?? view.account(nonce.account);
  const state = account === null ? null : decodeNonce(account.data);
  if (account === null || !state?.data) return writes;
  const data = encodeNonce({
    ...state,
    data: { ...state.data, durableNonce: durableNonceOf(view.lastBlockhash) },
  });
  return writes.set(nonce.account, { ...account, data });
}

function describe(
  transaction: Transaction,
  { keys, loaded, fee, loadedAccountsDataSizeLimit }: Prepared,
  run: VmRun,
  writes: ReadonlyMap<Address, Account | null>,
  view: StateView,
): Execution {
  const { message } = transaction;
  const before = (address: Address): Account | null => view.account(address);
  const after = (address: Address): Account | null => {
    const written = writes.get(address);
    return written === undefined ? view.account(address) : written;
  };
  const balances = (read: typeof before): Lamports[] => keys.map((key) => read(key)?.lamports ?? lamports(0));
  const dataSize = loadedDataSizeOf(message, keys, before, programDataAddressOf);
  const loadedAccountsDataSize = Math.min(dataSize, loadedAccountsDataSizeLimit);
  const writableCount = keys.filter((_, index) => isWritable(message, index, loaded)).length;
  return {
    keys,
    executed: run.executed,
    writes,
    postAccounts: run.postAccounts,
    loadedAccountsDataSize,
    meta: {
      err: run.err,
      fee,
      preBalances: balances(before),
      postBalances: balances(after),
      innerInstructions: run.executed ? run.innerInstructions : null,
      logMessages: run.executed ? run.logs : null,
      preTokenBalances: tokenBalancesOf(keys, before),
      postTokenBalances: tokenBalancesOf(keys, after),
      rewards: [],
      loadedAddresses: loaded,
      returnData: run.returnData,
      computeUnitsConsumed: run.unitsConsumed,
      costUnits: costUnitsOf(message, { writableCount, loadedAccountsDataSize, units: run.unitsConsumed }),
    },
  };
}
