import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type AccountKeyKind, AccountsIndex, matchesKey } from './accounts-index.ts';

/** null if the balance is 0. */
type Version = { slot: number; account: Account | null; older: Version | null };

/**
 * Multi-version store of all accounts. A write in slot S is visible from S on; `prune` drops versions that
 * no reader at or above the root can see.
 *
 *     address → (slot 57, A″) → (slot 41, A′) → (slot 3, A)
 *                 at(57..)        at(41..56)      at(..40): dropped once the root passes 41
 */
export class AccountsStore {
  readonly #newest = new Map<Address, Version>();
  readonly #index = new AccountsIndex();
  /** Per slot, in slot order: the written addresses that have older versions. */
  readonly #superseded = new Map<number, Address[]>();
  readonly #pins = new Map<number, number>();
  #lamports = 0n;

  /** Lamports of the newest versions. */
  get capitalization(): bigint {
    return this.#lamports;
  }

  get size(): number {
    return this.#newest.size;
  }

  at(address: Address, slot: number): Account | null {
    let version = this.#newest.get(address) ?? null;
    while (version !== null && version.slot > slot) version = version.older;
    return version === null ? null : version.account;
  }

  /** Newest version, including writes of the open slot. */
  newest(address: Address): Account | null {
    return this.#newest.get(address)?.account ?? null;
  }

  /** Slots must not decrease. null removes the account, whose balance is 0. */
  write(address: Address, slot: number, account: Account | null): void {
    const current = this.#newest.get(address);
    this.#lamports += (account?.lamports ?? 0n) - (current?.account?.lamports ?? 0n);
    if (current === undefined) {
      if (account === null) return;
      this.#newest.set(address, { slot, account, older: null });
    } else if (current.slot === slot) {
      this.#replace(address, current, account);
    } else {
      this.#newest.set(address, { slot, account, older: current });
      this.#noteSuperseded(address, slot);
    }
    if (account !== null) this.#index.add(address, account);
  }

  /** Adds an account that was there before: it is visible at all slots, or since its removal. */
  import(address: Address, account: Account): void {
    const newest = this.#newest.get(address);
    if (newest === undefined) this.write(address, 0, account);
    else if (newest.account === null) this.write(address, newest.slot, account);
  }

  /** Makes the oldest version of an account visible at all slots. */
  backdate(address: Address): void {
    let oldest = this.#newest.get(address);
    while (oldest?.older) oldest = oldest.older;
    if (oldest !== undefined) oldest.slot = 0;
  }

  /** Drops versions invisible from `root` on, unless pinned. */
  prune(root: number): void {
    const rootSlot = Math.min(root, ...this.#pins.keys());
    for (const [slot, addresses] of this.#superseded) {
      if (slot > rootSlot) break;
      this.#superseded.delete(slot);
      for (const address of addresses) this.#pruneOne(address, rootSlot);
    }
  }

  /** Keeps the state at `slot` readable until the returned function is called. */
  pin(slot: number): () => void {
    this.#pins.set(slot, (this.#pins.get(slot) ?? 0) + 1);
    return () => {
      const count = (this.#pins.get(slot) ?? 1) - 1;
      if (count === 0) this.#pins.delete(slot);
      else this.#pins.set(slot, count);
    };
  }

  /** Unordered. */
  *find(kind: AccountKeyKind, key: Address, slot: number): IterableIterator<readonly [Address, Account]> {
    for (const address of this.#index.addresses(kind, key)) {
      const account = this.at(address, slot);
      if (account !== null && matchesKey(kind, key, account)) yield [address, account];
    }
  }

  /** Unordered. Safe to iterate while slots advance. */
  *entries(slot: number): IterableIterator<readonly [Address, Account]> {
    for (const address of this.#newest.keys()) {
      const account = this.at(address, slot);
      if (account !== null) yield [address, account];
    }
  }

  #replace(address: Address, current: Version, account: Account | null): void {
    const before = current.account;
    current.account = account;
    if (before !== null) this.#index.drop(address, before, accountsOf(current));
    if (account !== null) return;
    if (current.older === null) this.#newest.delete(address);
    else this.#noteSuperseded(address, current.slot);
  }

  #noteSuperseded(address: Address, slot: number): void {
    const addresses = this.#superseded.get(slot);
    if (addresses === undefined) this.#superseded.set(slot, [address]);
    else addresses.push(address);
  }

  #pruneOne(address: Address, rootSlot: number): void {
    const newest = this.#newest.get(address);
    if (newest === undefined) return;
    let last = newest;
    while (last.slot > rootSlot && last.older !== null) last = last.older;
    let dropped = last.older;
    last.older = null;
    const retained = accountsOf(newest);
    for (; dropped !== null; dropped = dropped.older) {
      if (dropped.account !== null) this.#index.drop(address, dropped.account, retained);
    }
    if (newest === last && newest.account === null && newest.slot <= rootSlot) this.#newest.delete(address);
  }
}

function accountsOf(newest: Version): Account[] {
  const accounts: Account[] = [];
  for (let version: Version | null = newest; version !== null; version = version.older) {
    if (version.account !== null) accounts.push(version.account);
  }
  return accounts;
}
