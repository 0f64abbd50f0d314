import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { sysvarOwner } from '../../../../src/solana/programs.ts';

/** The oldest snapshot is dropped beyond this number. */
export const SNAPSHOTS_MAX = 16;

/** State of the open slot. */
type AccountsView = Readonly<{
  newestAccount(address: Address): Account | null;
  newestAccounts(): Iterable<readonly [Address, Account]>;
}>;

/**
 * Snapshots of all accounts in memory. They share unchanged accounts with the ledger. Sysvars are not part of them,
 * because slots and time only go on.
 */
export class AccountSnapshots {
  readonly #view: AccountsView;
  readonly #snapshots = new Map<number, Map<Address, Account>>();
  #nextId = 1;

  constructor(view: AccountsView) {
    this.#view = view;
  }

  /** Includes the open slot. @returns the id. */
  take(): number {
    const [oldest] = this.#snapshots.keys();
    if (oldest !== undefined && this.#snapshots.size >= SNAPSHOTS_MAX) this.#snapshots.delete(oldest);
    const id = this.#nextId++;
    this.#snapshots.set(id, new Map(this.#accounts()));
    return id;
  }

  /** Adds an account that was there before the snapshots. */
  include(address: Address, account: Account): void {
    for (const snapshot of this.#snapshots.values()) {
      if (!snapshot.has(address)) snapshot.set(address, account);
    }
  }

  /** Changes that lead back to a snapshot; null if there is none with this id. */
  changesTo(id: number): (readonly [Address, Account | null])[] | null {
    const snapshot = this.#snapshots.get(id);
    if (snapshot === undefined) return null;
    const changed = [...snapshot].filter(
      ([address, account]) => this.#view.newestAccount(address) !== account,
    );
    const added = [...this.#accounts()].filter(([address]) => !snapshot.has(address));
    return [...changed, ...added.map(([address]) => [address, null] as const)];
  }

  *#accounts(): Iterable<readonly [Address, Account]> {
    for (const found of this.#view.newestAccounts()) if (found[1].owner !== sysvarOwner) yield found;
  }
}
