import { createHash } from 'node:crypto';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';

/** Twice the lifetime of a blockhash, as in Agave's status cache. */
export const STATUS_SLOTS_MAX = 300;

type Entry = Readonly<{ slot: number; err: TransactionError | null }>;

/** Replays are detected by the message hash: a message contains its blockhash. */
const messageKey = ({ messageBytes }: Transaction): string =>
  createHash('sha256').update(messageBytes).digest().toString('latin1');

/** Recent transaction results by signature, and message hashes to detect replays. */
export class StatusCache {
  readonly #bySignature = new Map<Signature, Entry>();
  readonly #messages = new Map<string, number>();
  readonly #slots = new Map<number, { signature: Signature; message: string }[]>();

  /** Slot in which the message was executed, whatever its signatures; else undefined. */
  slotOf(transaction: Transaction): number | undefined {
    return this.#messages.get(messageKey(transaction));
  }

  get(signature: Signature): Entry | undefined {
    return this.#bySignature.get(signature);
  }

  /** Slots must not decrease. */
  add(transaction: Transaction, slot: number, err: TransactionError | null): void {
    const signature = transaction.signatures[0];
    if (signature === undefined) return;
    const message = messageKey(transaction);
    this.#bySignature.set(signature, { slot, err });
    this.#messages.set(message, slot);
    const entries = this.#slots.get(slot);
    if (entries === undefined) this.#slots.set(slot, [{ signature, message }]);
    else entries.push({ signature, message });
  }

  expire(tip: number): void {
    for (const [slot, entries] of this.#slots) {
      if (slot > tip - STATUS_SLOTS_MAX) break;
      this.#slots.delete(slot);
      for (const { signature, message } of entries) {
        if (this.#bySignature.get(signature)?.slot === slot) this.#bySignature.delete(signature);
        this.#messages.delete(message);
      }
    }
  }
}
