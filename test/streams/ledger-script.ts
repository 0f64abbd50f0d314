import type { Failure } from '../../src/protocol/errors.ts';
import type { Account } from '../../src/solana/account/account.ts';
import { type Address, addressFromBytes } from '../../src/solana/address.ts';
import type { Block, ExecutedTransaction } from '../../src/solana/block.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import type { MessageVersion } from '../../src/solana/message/message.ts';
import { programs } from '../../src/solana/programs.ts';
import { type Signature, signatureFromBytes } from '../../src/solana/signature.ts';
import type { TransactionMeta } from '../../src/solana/transaction/transaction-meta.ts';
import { lamports, slot } from '../../src/solana/units.ts';
import type { FeedListener } from '../../src/streams/feed.ts';
import type { LedgerNotifier } from '../../src/streams/ledger-notifier.ts';

/** Ledger events, with small numbers as addresses and signatures. */

/** The address for a number: that byte, repeated. Signatures and hashes are built alike. */
export const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));
export const signature = (n: number): Signature => signatureFromBytes(new Uint8Array(64).fill(n));
export const hash = (n: number) => blockhashFromBytes(new Uint8Array(32).fill(n));

export const account = (changes: Partial<Account> = {}): Account => ({
  lamports: lamports(5),
  data: new Uint8Array(),
  owner: programs.system,
  executable: false,
  rentEpoch: 18446744073709551615n,
  ...changes,
});

export type TransactionOptions = Readonly<{
  n: number;
  keys: readonly number[];
  version: MessageVersion;
  meta: Partial<TransactionMeta>;
}>;

export function executed({
  n = 0,
  keys = [n],
  version = 'legacy',
  meta = {},
}: Partial<TransactionOptions>): ExecutedTransaction {
  return {
    transaction: {
      signatures: [signature(n)],
      message: {
        version,
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
        accountKeys: keys.map(key),
        recentBlockhash: hash(9),
        instructions: [],
        addressTableLookups: [],
      },
      messageBytes: new Uint8Array(),
      wire: Uint8Array.of(n),
    },
    meta: {
      err: null,
      fee: lamports(5000),
      preBalances: [],
      postBalances: [],
      innerInstructions: [],
      logMessages: [`log of ${n}`],
      preTokenBalances: [],
      postTokenBalances: [],
      rewards: [],
      loadedAddresses: { writable: [], readonly: [] },
      returnData: null,
      computeUnitsConsumed: 150n,
      costUnits: null,
      ...meta,
    },
  };
}

export const block = (at: number, transactions: readonly ExecutedTransaction[], parent = at - 1): Block => ({
  slot: slot(at),
  parentSlot: slot(parent),
  blockhash: hash(at),
  previousBlockhash: hash(parent),
  blockHeight: BigInt(at),
  blockTime: 1000n + BigInt(at),
  transactions,
  rewards: [],
});

/** Sends ledger events to a notifier. The timestamp of an event is its slot number, in milliseconds. */
export class LedgerScript {
  readonly #notifier: LedgerNotifier;
  #index = 0;

  constructor(notifier: LedgerNotifier) {
    this.#notifier = notifier;
  }

  created(at: number, parent = at - 1): void {
    this.#index = 0;
    this.#notifier.emit({
      kind: 'created',
      slot: slot(at),
      parent: slot(parent),
      root: slot(0),
      at: BigInt(at),
    });
  }

  account(at: number, n: number, changes: Partial<Account> | null = {}): void {
    const state = changes === null ? null : account(changes);
    const written = { address: key(n), account: state, signature: null, writeVersion: 0n };
    this.#notifier.emit({ kind: 'account', slot: slot(at), ...written });
  }

  received(at: number, n: number): void {
    this.#notifier.emit({ kind: 'received', slot: slot(at), signature: signature(n) });
  }

  transaction(at: number, of: Partial<TransactionOptions>, isVote = false): void {
    const index = this.#index++;
    this.#notifier.emit({ kind: 'transaction', slot: slot(at), index, executed: executed(of), isVote });
  }

  block(ledgerBlock: Block): void {
    this.#notifier.emit({ kind: 'block', block: ledgerBlock });
  }

  frozen(at: number): void {
    const stats = {
      maxTransactionsPerEntry: 4n,
      numFailedTransactions: 3n,
      numSuccessfulTransactions: 2n,
      numTransactionEntries: 1n,
    };
    this.#notifier.emit({ kind: 'frozen', slot: slot(at), stats, at: BigInt(at) });
  }

  processed(at: number): void {
    this.#notifier.emit({ kind: 'processed', slot: slot(at) });
  }

  confirmed(at: number): void {
    this.#notifier.emit({ kind: 'confirmed', slot: slot(at), at: BigInt(at) });
  }

  rooted(at: number): void {
    this.#notifier.emit({ kind: 'rooted', slot: slot(at), at: BigInt(at) });
  }

  dead(at: number): void {
    this.#notifier.emit({ kind: 'dead', slot: slot(at), err: 'no good', at: BigInt(at) });
  }
}

export class NotificationRecorder implements FeedListener {
  readonly texts: string[] = [];
  /** Whether the latest notification was marked as the last. */
  isOver = false;

  onNotification(result: Buffer, isLast: boolean): void {
    if (this.isOver) throw new Error('an update after the last');
    this.texts.push(result.toString());
    this.isOver = isLast;
  }

  onError(failure: Failure): void {
    throw failure;
  }

  get slots(): number[] {
    return this.texts.map((text) => JSON.parse(text).context.slot);
  }

  get values(): unknown[] {
    return this.texts.map((text) => JSON.parse(text).value);
  }
}
