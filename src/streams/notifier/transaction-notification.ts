import type { TokenAccountMode } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedTransaction } from '../../solana/block.ts';
import { allKeys } from '../../solana/message/message-keys.ts';
import type { Signature } from '../../solana/signature.ts';
import type { TokenBalance, TransactionMeta } from '../../solana/transaction/transaction-meta.ts';
import type { Slot } from '../../solana/units.ts';
import { resultIn } from './result-json.ts';
import { type TransactionShape, transactionResult } from './transaction-result.ts';

/** Only fees were charged: loading failed, so nothing ran and nothing was logged. */
function wasExecuted({ err, logMessages }: TransactionMeta): boolean {
  if (logMessages === null) return false;
  if (err === null || logMessages.length > 0) return true;
  return typeof err === 'object' && 'InstructionError' in err;
}

type Balances = readonly TokenBalance[] | null;

const changed = (balances: Balances, others: Balances): TokenBalance[] =>
  (balances ?? []).filter(
    ({ accountIndex, amount }) =>
      !others?.some((other) => other.accountIndex === accountIndex && other.amount === amount),
  );

/** The owners of the token accounts of a transaction, or of those whose balance it changed. */
function tokenOwners(
  { preTokenBalances, postTokenBalances }: TransactionMeta,
  mode: TokenAccountMode,
): Address[] {
  const balances =
    mode === 'all'
      ? [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])]
      : [...changed(preTokenBalances, postTokenBalances), ...changed(postTokenBalances, preTokenBalances)];
  return balances.flatMap(({ owner }) => owner ?? []);
}

/** A transaction of a slot, written once for all who want the same of it. */
export class TransactionNotification {
  readonly slot: Slot;
  /** Its place in the block. */
  readonly index: number;
  readonly executed: ExecutedTransaction;
  readonly isVote: boolean;
  readonly signature: Signature | undefined;
  #logsResult: Buffer | null | undefined;
  #statusResult: Buffer | undefined;
  readonly #keys = new Map<TokenAccountMode, ReadonlySet<Address>>();
  readonly #results = new Map<string, Buffer | null>();

  constructor(slot: Slot, index: number, executed: ExecutedTransaction, isVote: boolean) {
    this.slot = slot;
    this.index = index;
    this.executed = executed;
    this.isVote = isVote;
    this.signature = executed.transaction.signatures[0];
  }

  /** Every key of its message, static and loaded, and, but for `none`, owners of its token accounts. */
  keys(mode: TokenAccountMode): ReadonlySet<Address> {
    const existing = this.#keys.get(mode);
    if (existing !== undefined) return existing;
    const { transaction, meta } = this.executed;
    const keys = new Set(allKeys(transaction.message, meta.loadedAddresses));
    if (mode !== 'none') for (const owner of tokenOwners(meta, mode)) keys.add(owner);
    this.#keys.set(mode, keys);
    return keys;
  }

  /** `{context, value: {signature, err, logs}}`; null when it was not run. */
  logsResult(): Buffer | null {
    if (this.#logsResult === undefined) this.#logsResult = this.#writeLogs();
    return this.#logsResult;
  }

  /** `{context, value: {err}}`. */
  statusResult(): Buffer {
    this.#statusResult ??= resultIn(this.slot, { err: this.executed.meta.err });
    return this.#statusResult;
  }

  /** The transaction as a `transaction` subscription shows it; null when it is not told in this shape. */
  result(shape: TransactionShape): Buffer | null {
    const existing = this.#results.get(shape.name);
    if (existing !== undefined) return existing;
    const result = transactionResult(this, shape);
    this.#results.set(shape.name, result);
    return result;
  }

  #writeLogs(): Buffer | null {
    const { meta } = this.executed;
    if (!wasExecuted(meta)) return null;
    return resultIn(this.slot, { signature: this.signature, err: meta.err, logs: meta.logMessages });
  }
}
