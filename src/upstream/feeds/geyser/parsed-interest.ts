import type { Address } from '../../../ledger/address.ts';
import type { Subscription } from '../../../protocol/subscriptions.ts';

/** The accounts that somebody wants to see by their meaning: by address, or by the program that owns them. */
export class ParsedInterest {
  readonly #counts = new Map<Address, number>();

  /** @returns what ends it. */
  add(subscription: Subscription): () => void {
    const isParsed = 'encoding' in subscription && subscription.encoding === 'jsonParsed';
    if (!isParsed) return () => {};
    if (subscription.kind === 'account') return this.#count(subscription.address);
    return subscription.kind === 'program' ? this.#count(subscription.program) : () => {};
  }

  has(address: Address, owner: Address): boolean {
    return this.#counts.has(address) || this.#counts.has(owner);
  }

  #count(address: Address): () => void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(address) ?? 1) - 1;
      if (left === 0) this.#counts.delete(address);
      else this.#counts.set(address, left);
    };
  }
}
