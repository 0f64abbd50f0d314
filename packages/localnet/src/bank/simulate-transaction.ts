import { resolveLookups } from '../../../../src/solana/address-lookup-table.ts';
import { verifyTransaction } from '../../../../src/solana/ed25519.ts';
import { allKeys } from '../../../../src/solana/message/message-keys.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { BLOCKHASH_AGE_MAX, FORWARDING_DELAY, type RecentBlocks } from '../history/recent-blocks.ts';
import type { SimulateOptions, Simulation } from '../node.ts';
import type { FrozenBank } from './bank.ts';
import { executeTransaction } from './execute-transaction.ts';
import type { StatusCache } from './status-cache.ts';
import { tokenBalancesOf } from './token-balances.ts';
import { ageOfTransaction, type TransactionAge } from './transaction-checks.ts';
import type { Vm } from './vm.ts';

type SimulationSources = Readonly<{ vm: Vm; recentBlocks: RecentBlocks; statuses: StatusCache }>;

/** Source: agave rpc, `simulate_transaction`. */
export function simulateTransaction(
  transaction: Transaction,
  bank: FrozenBank,
  options: SimulateOptions,
  sources: SimulationSources,
): Simulation {
  const replacementBlockhash = options.replaceRecentBlockhash
    ? { blockhash: bank.blockhash, lastValidBlockHeight: bank.blockHeight + BigInt(BLOCKHASH_AGE_MAX) }
    : null;
  if (options.sigVerify && !verifyTransaction(transaction)) {
    return rejectedSimulation('SignatureFailure', replacementBlockhash, NO_BALANCES);
  }
  const age: TransactionAge | TransactionError = options.replaceRecentBlockhash
    ? { nonce: null }
    : checkAgeAndStatus(transaction, bank, sources);
  if (typeof age === 'string' || !('nonce' in age)) {
    return rejectedSimulation(age, replacementBlockhash, unchangedBalances(transaction, bank));
  }
  const execution = executeTransaction(transaction, age.nonce, bank, sources.vm);
  if ('rejected' in execution) {
    return rejectedSimulation(execution.rejected, replacementBlockhash, unchangedBalances(transaction, bank));
  }
  const { meta, executed, loadedAccountsDataSize, postAccounts } = execution;
  return {
    ...meta,
    logs: meta.logMessages ?? [],
    unitsConsumed: executed ? meta.computeUnitsConsumed : 0n,
    innerInstructions: options.innerInstructions ? meta.innerInstructions : null,
    loadedAccountsDataSize,
    postAccounts,
    replacementBlockhash,
  };
}

function checkAgeAndStatus(
  transaction: Transaction,
  bank: FrozenBank,
  sources: SimulationSources,
): TransactionAge | TransactionError {
  const ageMax = BLOCKHASH_AGE_MAX - FORWARDING_DELAY;
  const age = ageOfTransaction(transaction, bank.at, sources.recentBlocks, bank, ageMax);
  if (age === null) return 'BlockhashNotFound';
  const executedIn = sources.statuses.slotOf(transaction);
  return executedIn !== undefined && executedIn <= bank.at ? 'AlreadyProcessed' : age;
}

type Balances = Pick<Simulation, 'preBalances' | 'postBalances' | 'preTokenBalances' | 'postTokenBalances'>;

/** Simulation of a transaction whose accounts were not read. */
const NO_BALANCES: Balances = {
  preBalances: null,
  postBalances: null,
  preTokenBalances: null,
  postTokenBalances: null,
};

/** Agave shows balances even when accounts cannot be loaded. */
function unchangedBalances({ message }: Transaction, bank: FrozenBank): Balances {
  const resolved = resolveLookups(message, (address) => bank.account(address), bank.slot);
  if ('fault' in resolved) return NO_BALANCES;
  const keys = allKeys(message, resolved.loaded);
  const balances = keys.map((key) => bank.account(key)?.lamports ?? lamports(0));
  const tokenBalances = tokenBalancesOf(keys, (key) => bank.account(key));
  return {
    preBalances: balances,
    postBalances: balances,
    preTokenBalances: tokenBalances,
    postTokenBalances: tokenBalances,
  };
}

/** Simulation of a transaction whose fee cannot be charged. */
function rejectedSimulation(
  err: TransactionError,
  replacementBlockhash: Simulation['replacementBlockhash'],
  balances: Balances,
): Simulation {
  return {
    err,
    logs: [],
    unitsConsumed: 0n,
    loadedAccountsDataSize: 0,
    returnData: null,
    innerInstructions: null,
    postAccounts: new Map(),
    replacementBlockhash,
    fee: null,
    loadedAddresses: null,
    ...balances,
  };
}
