import type { Subscription } from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import { RefCountedMap } from './ref-counted-map.ts';

/** The accounts that somebody wants to see by their meaning: by address, or by the program that owns them. */
export class ParsedAccounts {
  readonly #targets = new RefCountedMap<Address, null>();

  /** @returns what ends it. */
  add(subscription: Subscription): () => void {
    const isParsed = 'encoding' in subscription && subscription.encoding === 'jsonParsed';
    if (!isParsed) return () => {};
    if (subscription.kind === 'account') return this.#targets.add(subscription.address, () => null);
    return subscription.kind === 'program' ? this.#targets.add(subscription.program, () => null) : () => {};
  }

  has(address: Address, owner: Address): boolean {
    return this.#targets.has(address) || this.#targets.has(owner);
  }
}
