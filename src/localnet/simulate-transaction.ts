import { verifyTransaction } from '../ledger/ed25519.ts';
import type { Transaction } from '../ledger/transaction/transaction.ts';
import type { TransactionError } from '../ledger/transaction/transaction-error.ts';
import type { FrozenBank } from './bank.ts';
import { executeTransaction } from './execute-transaction.ts';
import type { SimulateOptions, Simulation } from './node.ts';
import { BLOCKHASH_AGE_MAX, type RecentBlocks } from './recent-blocks.ts';
import type { StatusCache } from './status-cache.ts';
import { type Age, ageOfTransaction } from './transaction-age.ts';
import type { Vm } from './vm.ts';

export type SimulationSources = Readonly<{ vm: Vm; recentBlocks: RecentBlocks; statuses: StatusCache }>;

/** Runs a transaction on a frozen state, without effect. Source: agave rpc, `simulate_transaction`. */
export function simulateTransaction(
  transaction: Transaction,
  bank: FrozenBank,
  options: SimulateOptions,
  sources: SimulationSources,
): Simulation {
  const replacementBlockhash = options.replaceRecentBlockhash
    ? { blockhash: bank.blockhash, lastValidBlockHeight: bank.blockHeight + BigInt(BLOCKHASH_AGE_MAX) }
    : null;
  if (options.sigVerify && !verifyTransaction(transaction))
    return notLoaded('SignatureFailure', replacementBlockhash);
  const age: Age | TransactionError = options.replaceRecentBlockhash
    ? { nonce: null }
    : judge(transaction, bank, sources);
  if (typeof age === 'string' || !('nonce' in age)) return notLoaded(age, replacementBlockhash);
  const execution = executeTransaction(transaction, age.nonce, bank, sources.vm);
  if ('refused' in execution) return notLoaded(execution.refused, replacementBlockhash);
  const { meta, executed, loadedAccountsDataSize, postAccounts } = execution;
  if (!executed) return notLoaded(meta.err ?? 'CommitCancelled', replacementBlockhash);
  return {
    ...meta,
    logs: meta.logMessages,
    unitsConsumed: meta.computeUnitsConsumed,
    innerInstructions: options.innerInstructions ? meta.innerInstructions : [],
    loadedAccountsDataSize,
    postAccounts,
    replacementBlockhash,
  };
}

function judge(
  transaction: Transaction,
  bank: FrozenBank,
  sources: SimulationSources,
): Age | TransactionError {
  const age = ageOfTransaction(transaction, bank.at, sources.recentBlocks, bank);
  if (age === null) return 'BlockhashNotFound';
  const seenAt = sources.statuses.slotOf(transaction);
  return seenAt !== undefined && seenAt <= bank.at ? 'AlreadyProcessed' : age;
}

/** What Agave answers when a transaction could not even be loaded (reference §1.10). */
function notLoaded(
  err: TransactionError,
  replacementBlockhash: Simulation['replacementBlockhash'],
): Simulation {
  return {
    err,
    logs: [],
    unitsConsumed: 0n,
    loadedAccountsDataSize: 0,
    returnData: null,
    innerInstructions: [],
    postAccounts: new Map(),
    replacementBlockhash,
    fee: null,
    preBalances: null,
    postBalances: null,
    preTokenBalances: null,
    postTokenBalances: null,
    loadedAddresses: null,
  };
}
