import { passes } from '../../../protocol/rpc/account-passes.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import type { Slot } from '../../../solana/units.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { contextValue, rawMembers } from './context.ts';
import {
  type Continuity,
  type Gap,
  gapWindow,
  type NotificationDecision,
  newer,
  type SlotWindow,
} from './continuity.ts';
import { readAccounts } from './read-accounts.ts';
import { SeenSlots } from './seen-slots.ts';
import { writtenAccounts } from './written-accounts.ts';

const VALUE = Buffer.from('"value":{"pubkey":"');
/** In the order in which nodes write it, the address begins within so many bytes. */
const HEAD_BYTES = 80;
const QUOTE = 0x22;

/** The account that a programNotification is of; null when it has none. */
function addressOf(result: Buffer): Address | null {
  const at = result.subarray(0, HEAD_BYTES).indexOf(VALUE);
  if (at >= 0) {
    const start = at + VALUE.length;
    const end = result.indexOf(QUOTE, start);
    return end < 0 ? null : (result.toString('latin1', start, end) as Address);
  }
  const raw = rawMembers(contextValue(result)).get('pubkey');
  return raw === undefined ? null : (raw.toString('latin1').slice(1, -1) as Address);
}

/**
 * `program`: the accounts that the gap's blocks may have written are read again; those that the program owns and
 * the filters let through are told once each, as they are now. An account of which the new connection told
 * meanwhile is left to it. What the runtime writes by itself, such as sysvars, is not made up for.
 */
export class ProgramGap implements Continuity {
  readonly #subscription: SubscriptionOf<'program'>;
  readonly #seenAccounts: SeenSlots;
  /** The newest slot of which a connection told. */
  #newestSlot: Slot | null = null;
  /** After a move: up to here an account may have been told already. */
  #filledTo: Slot | null = null;

  /** @param seenMax - accounts that are remembered. */
  constructor(subscription: SubscriptionOf<'program'>, seenMax: number) {
    this.#subscription = subscription;
    this.#seenAccounts = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const slot = contextSlot(result);
    const address = addressOf(result);
    if (slot === null || address === null) return 'pass';
    if (this.#filledTo !== null && slot <= this.#filledTo) {
      const emittedSlot = this.#seenAccounts.get(address) ?? this.#seenAccounts.evictedUpTo;
      if (slot <= emittedSlot) return 'drop';
    }
    this.#seenAccounts.add(address, slot);
    this.#newestSlot = newer(this.#newestSlot, slot);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { commitment, encoding } = this.#subscription;
    const window = gapWindow(gap, commitment, this.#newestSlot);
    this.#filledTo = newer(this.#filledTo, this.#newestSlot);
    const addresses = await this.#missed(gap, window);
    const query = { addresses, commitment, encoding: 'base64', notBefore: window.to } as const;
    for await (const read of readAccounts(gap.reader, query, gap.signal)) {
      const matching = read.filter(({ account }) => account !== null && this.#matches(account));
      if (matching.length === 0) continue;
      const encodedQuery = { ...query, encoding, addresses: matching.map(({ address }) => address) };
      for await (const accounts of readAccounts(gap.reader, encodedQuery, gap.signal))
        this.#emit(accounts, gap);
    }
  }

  #matches(account: Parameters<typeof passes>[1]): boolean {
    const { program, filters } = this.#subscription;
    return account.owner === program && filters.every((filter) => passes(filter, account));
  }

  /** The accounts that were written in the gap after they were told of last. */
  async #missed(gap: Gap, { from, to }: SlotWindow): Promise<Address[]> {
    const history = this.#subscription.commitment === 'finalized' ? 'finalized' : 'confirmed';
    const slots = await gap.reader.slots(from, to, history, gap.signal);
    const missed = new Set<Address>();
    await gap.reader.eachBlock(
      slots.filter((slot) => slot > this.#seenAccounts.evictedUpTo),
      gap.signal,
      (block) => {
        for (const address of writtenAccounts(block)) {
          const emittedSlot = this.#seenAccounts.get(address);
          if (emittedSlot === undefined || emittedSlot < block.slot) missed.add(address);
        }
      },
    );
    return [...missed];
  }

  #emit(
    accounts: readonly { address: Address; slot: Slot; keyedResult: () => Buffer | null }[],
    gap: Gap,
  ): void {
    const live = new Set(gap.buffered().map(addressOf));
    for (const { address, slot, keyedResult } of accounts) {
      // A node that is behind reads an older state than was told.
      const isOld = slot <= (this.#seenAccounts.get(address) ?? -1n);
      const result = isOld || live.has(address) ? null : keyedResult();
      if (result === null) continue;
      this.#seenAccounts.add(address, slot);
      this.#filledTo = newer(this.#filledTo, slot);
      gap.emit(result);
    }
  }
}
