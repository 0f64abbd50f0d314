import type { WritableJson } from '../../base/json.ts';
import type { SubscriptionOf, TokenAccountMode } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedTransaction } from '../../solana/block.ts';
import { inDeclaredOrder, transactionWithMetaOrder } from '../../solana/encoding/declared-order.ts';
import { encodeTransactionWithMeta } from '../../solana/encoding/ui-transaction.ts';
import { allKeys } from '../../solana/message/message-keys.ts';
import type { Signature } from '../../solana/signature.ts';
import type { TokenBalance, TransactionMeta } from '../../solana/transaction/transaction-meta.ts';
import type { Slot } from '../../solana/units.ts';
import { resultIn, resultOf } from './account-notification.ts';

export type TransactionShape = Pick<
  SubscriptionOf<'transaction'>,
  'dialect' | 'encoding' | 'details' | 'rewards' | 'maxVersion'
> &
  Readonly<{ name: string }>;

export function transactionShape(subscription: SubscriptionOf<'transaction'>): TransactionShape {
  const { dialect, encoding, details, rewards, maxVersion } = subscription;
  const name = [dialect, encoding, details, rewards, maxVersion].join();
  return { dialect, encoding, details, rewards, maxVersion, name };
}

type Encoded = ReturnType<typeof encodeTransactionWithMeta>;

function encode(
  { executed }: TransactionNotification,
  { encoding, details, rewards, maxVersion }: TransactionShape,
): Encoded {
  const encoded = encodeTransactionWithMeta(executed, encoding, maxVersion, details, rewards);
  if ('unsupportedVersion' in encoded) return encoded;
  return { json: inDeclaredOrder(encoded.json, transactionWithMetaOrder) };
}

const hasBody = ({ details }: TransactionShape): boolean => details === 'full' || details === 'accounts';

/** `{transaction?, signature, slot, transactionIndex}`; null for an unsupported version. */
function heliusResult(source: TransactionNotification, shape: TransactionShape): Buffer | null {
  const encoded: Encoded = hasBody(shape) ? encode(source, shape) : { json: undefined };
  if ('unsupportedVersion' in encoded) return null;
  const { signature, slot, index } = source;
  return resultOf({ transaction: encoded.json, signature, slot, transactionIndex: index });
}

/** `{context, value: {slot, signature?, transaction?, error?}}`. Source: richat src/pubsub/notification.rs. */
function whirligigResult(source: TransactionNotification, shape: TransactionShape): Buffer {
  const { signature, slot } = source;
  const body = hasBody(shape) ? whirligigBody(encode(source, shape)) : {};
  return resultIn(slot, { slot, signature: shape.details === 'signatures' ? signature : undefined, ...body });
}

const whirligigBody = (encoded: Encoded): { readonly [name: string]: WritableJson } =>
  'unsupportedVersion' in encoded
    ? { error: { UnsupportedTransactionVersion: encoded.unsupportedVersion } }
    : { transaction: encoded.json };

/** After a loading failure, only fees are charged: nothing is executed or logged. */
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

/** Owners of all token accounts of a transaction, or only of those whose balance changed. */
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

/** A transaction with its JSON cached per shape. */
export class TransactionNotification {
  readonly slot: Slot;
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

  /** All static and loaded keys and, unless the mode is `none`, token account owners. */
  keys(mode: TokenAccountMode): ReadonlySet<Address> {
    const existing = this.#keys.get(mode);
    if (existing !== undefined) return existing;
    const { transaction, meta } = this.executed;
    const keys = new Set(allKeys(transaction.message, meta.loadedAddresses));
    if (mode !== 'none') for (const owner of tokenOwners(meta, mode)) keys.add(owner);
    this.#keys.set(mode, keys);
    return keys;
  }

  /** `{context, value: {signature, err, logs}}`; null if the transaction was not executed. */
  logsResult(): Buffer | null {
    if (this.#logsResult === undefined) this.#logsResult = this.#writeLogs();
    return this.#logsResult;
  }

  statusResult(): Buffer {
    this.#statusResult ??= resultIn(this.slot, { err: this.executed.meta.err });
    return this.#statusResult;
  }

  /** null if the shape's dialect (solana-json-rpc.md §3.3) omits the transaction. */
  result(shape: TransactionShape): Buffer | null {
    const existing = this.#results.get(shape.name);
    if (existing !== undefined) return existing;
    const result = shape.dialect === 'helius' ? heliusResult(this, shape) : whirligigResult(this, shape);
    this.#results.set(shape.name, result);
    return result;
  }

  #writeLogs(): Buffer | null {
    const { meta } = this.executed;
    if (!wasExecuted(meta)) return null;
    return resultIn(this.slot, { signature: this.signature, err: meta.err, logs: meta.logMessages });
  }
}
