import type { Address } from '../../../ledger/address.ts';
import type { Subscription } from '../../../protocol/subscriptions.ts';
import { CountedMap } from './counted-map.ts';

/** The accounts that somebody wants to see by their meaning: by address, or by the program that owns them. */
export class ParsedInterest {
  readonly #wanted = new CountedMap<Address, null>();

  /** @returns what ends it. */
  add(subscription: Subscription): () => void {
    const isParsed = 'encoding' in subscription && subscription.encoding === 'jsonParsed';
    if (!isParsed) return () => {};
    if (subscription.kind === 'account') return this.#wanted.add(subscription.address, () => null);
    return subscription.kind === 'program' ? this.#wanted.add(subscription.program, () => null) : () => {};
  }

  has(address: Address, owner: Address): boolean {
    return this.#wanted.has(address) || this.#wanted.has(owner);
  }
}
