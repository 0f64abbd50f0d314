import { zstdDecompressSync } from 'node:zlib';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import { matchesAccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import type { Slot } from '../../../solana/units.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { newer } from '../../slots/newest-slot.ts';
import { historyOf } from '../chain-reader.ts';
import {
  contextValue,
  type Gap,
  type GapRecovery,
  GapTooLong,
  gapWindow,
  type NotificationDecision,
  SeenSlots,
  valueString,
} from './gap-recovery.ts';
import { type AccountResult, readAccounts, writtenAccounts } from './read-accounts.ts';

/** Source: solana-system-interface, `MAX_PERMITTED_DATA_LENGTH`. */
const DATA_MAX_BYTES = 10 * 1024 * 1024;

/** Decompresses account data, because nodes may compress the same bytes differently. */
function unpacked(value: JsonValue[]): JsonValue[] {
  const [text, encoding] = value;
  if (value.length !== 2 || encoding !== 'base64+zstd' || typeof text !== 'string') return value;
  try {
    const bytes = zstdDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: DATA_MAX_BYTES });
    return [bytes.toString('base64'), 'base64'];
  } catch {
    return value;
  }
}

function sorted(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return unpacked(value).map(sorted);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as JsonValue)]));
}

/** Returns the same text for equal values, regardless of member order and compression. */
export const canonicalJson = (raw: Buffer): string => writeJson(sorted(parseJson(raw.toString('utf8'))));

/**
 * Reads the account again and emits the state if it differs from the last emitted state and is not older. If nothing
 * has been emitted yet, emits it if a block in the gap may have written the account, or the gap is too long to check.
 */
export class AccountGap implements GapRecovery {
  readonly #subscription: SubscriptionOf<'account'>;
  #last: Buffer | null = null;
  /** Set by a failover: states up to this slot have already been emitted or read. */
  #validUpTo: Slot | null = null;

  constructor(subscription: SubscriptionOf<'account'>) {
    this.#subscription = subscription;
  }

  decide(result: Buffer): NotificationDecision {
    if (this.#validUpTo !== null) {
      const slot = contextSlot(result);
      if (slot !== null && slot <= this.#validUpTo) return 'drop';
      this.#validUpTo = null;
    }
    // Copies a small view, which would otherwise retain the whole receive buffer.
    this.#last = result.buffer.byteLength > 2 * result.length ? Buffer.from(result) : result;
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { address, commitment, encoding } = this.#subscription;
    this.#validUpTo = newer(this.#validUpTo, this.#last === null ? null : contextSlot(this.#last));
    const minContextSlot = commitment === 'finalized' ? gap.to.root : gap.to.slot;
    const query = { addresses: [address], commitment, encoding, minContextSlot };
    for await (const [read] of readAccounts(gap.reader, query, gap.signal)) {
      // Skips the state if the new connection has already sent a newer notification.
      if (read === undefined || this.#isSuperseded(gap) || !(await this.#isNew(read, gap))) continue;
      this.#validUpTo = newer(this.#validUpTo, read.slot);
      this.#last = read.result();
      gap.emit(this.#last);
    }
  }

  #isSuperseded(gap: Gap): boolean {
    return gap.buffered().some((result) => (contextSlot(result) ?? 0n) > (this.#validUpTo ?? -1n));
  }

  async #isNew(read: AccountResult, gap: Gap): Promise<boolean> {
    if (this.#last === null) {
      const { commitment } = this.#subscription;
      try {
        const { from, to } = gapWindow(gap, commitment, null);
        const slots = await gap.reader.slots(from, to, historyOf(commitment), gap.signal);
        let touched = false;
        await gap.reader.eachBlock(slots, gap.signal, (block) => {
          touched ||= writtenAccounts(block).has(this.#subscription.address);
        });
        return touched;
      } catch (fault) {
        if (fault instanceof GapTooLong) return true;
        throw fault;
      }
    }
    const before = contextSlot(this.#last);
    if (before !== null && read.slot < before) return false;
    return canonicalJson(contextValue(read.result())) !== canonicalJson(contextValue(this.#last));
  }
}

const addressOf = valueString('pubkey') as (result: Buffer) => Address | null;

/**
 * Reads the accounts that blocks in the gap may have written, and emits each matching account once, in its current
 * state. Skips accounts for which a notification from the new connection is buffered. Does not recover accounts
 * written by the runtime, such as sysvars.
 */
export class ProgramGap implements GapRecovery {
  readonly #subscription: SubscriptionOf<'program'>;
  readonly #seenAccounts: SeenSlots;
  #newestSlot: Slot | null = null;
  /** After a failover, notifications up to this slot may be duplicates. */
  #filledTo: Slot | null = null;

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
    const { from, to } = gapWindow(gap, commitment, this.#newestSlot);
    this.#filledTo = newer(this.#filledTo, this.#newestSlot);
    const slots = await gap.reader.slots(from, to, historyOf(commitment), gap.signal);
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
    const query = { addresses: [...missed], commitment, encoding: 'base64', minContextSlot: to } as const;
    for await (const read of readAccounts(gap.reader, query, gap.signal)) {
      const matching = read.filter(({ account }) => account !== null && this.#matches(account));
      if (matching.length === 0) continue;
      const encodedQuery = { ...query, encoding, addresses: matching.map(({ address }) => address) };
      for await (const accounts of readAccounts(gap.reader, encodedQuery, gap.signal)) {
        const live = new Set(gap.buffered().map(addressOf));
        for (const { address, slot, keyedResult } of accounts) {
          // A node that is behind may return an older state.
          const isOld = slot <= (this.#seenAccounts.get(address) ?? -1n);
          const result = isOld || live.has(address) ? null : keyedResult();
          if (result === null) continue;
          this.#seenAccounts.add(address, slot);
          this.#filledTo = newer(this.#filledTo, slot);
          gap.emit(result);
        }
      }
    }
  }

  #matches(account: Parameters<typeof matchesAccountFilter>[1]): boolean {
    const { program, filters } = this.#subscription;
    return account.owner === program && filters.every((filter) => matchesAccountFilter(filter, account));
  }
}
