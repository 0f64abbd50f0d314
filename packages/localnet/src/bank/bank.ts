import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import { sysvarOwner } from '../../../../src/solana/programs.ts';
import { type Epoch, type Lamports, lamports, type Slot, slot } from '../../../../src/solana/units.ts';
import { BLOCKHASH_AGE_MAX, BLOCKHASH_KNOWN_MAX, type RecentBlocks } from '../history/recent-blocks.ts';
import { clockOf, type SlotHeader } from '../history/slot-record.ts';
import type { Bank, Clock, EpochSchedule } from '../node.ts';
import type { AccountKeyKind } from './accounts-index.ts';
import type { AccountsStore } from './accounts-store.ts';
import { SysvarAccounts, synthesizedLamports, synthesizedSysvars } from './sysvar-accounts.ts';
import type { StateView } from './vm.ts';

/** Stores shared by all banks. */
export type BankSources = Readonly<{
  store: AccountsStore;
  recentBlocks: RecentBlocks;
  epochSchedule: EpochSchedule;
}>;

type Found = readonly [Address, Account];

/** Read-only state after a frozen slot. */
export class FrozenBank implements Bank, StateView {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly blockHeight: bigint;
  readonly blockhash: Blockhash;
  readonly epoch: Epoch;
  readonly clock: Clock;
  readonly transactionCount: bigint;
  readonly capitalization: Lamports;
  readonly at: number;
  readonly #sources: BankSources;
  readonly #sysvars: SysvarAccounts;

  /** @param accountLamports - lamports of all stored accounts after the slot. */
  constructor(header: SlotHeader, accountLamports: bigint, sources: BankSources) {
    this.at = header.slot;
    this.slot = slot(header.slot);
    this.parentSlot = slot(Math.max(0, header.slot - 1));
    this.blockHeight = BigInt(header.slot);
    this.blockhash = header.blockhash;
    this.clock = clockOf(header, sources.epochSchedule);
    this.epoch = this.clock.epoch;
    this.transactionCount = header.transactionCount;
    this.capitalization = lamports(accountLamports + synthesizedLamports);
    this.#sources = sources;
    this.#sysvars = new SysvarAccounts({ ...sources, clock: this.clock, lastBlockSlot: header.slot });
  }

  get lastBlockhash(): Blockhash {
    return this.blockhash;
  }

  account(address: Address): Account | null {
    return this.#sysvars.account(address) ?? this.#sources.store.at(address, this.at);
  }

  *accountsByOwner(program: Address): IterableIterator<Found> {
    yield* this.#find('owner', program);
    if (program === sysvarOwner) yield* this.#synthesized();
  }

  tokenAccountsByOwner(wallet: Address): Iterable<Found> {
    return this.#find('wallet', wallet);
  }

  tokenAccountsByDelegate(delegate: Address): Iterable<Found> {
    return this.#find('delegate', delegate);
  }

  tokenAccountsByMint(mint: Address): Iterable<Found> {
    return this.#find('mint', mint);
  }

  *accounts(): IterableIterator<Found> {
    yield* this.#sources.store.entries(this.at);
    yield* this.#synthesized();
  }

  /** Accounts changed by the slot itself. */
  changedBySlot(): Iterable<Found> {
    return this.#sysvars.changed();
  }

  isBlockhashValid(blockhash: Blockhash): boolean {
    const age = this.#sources.recentBlocks.ageOf(blockhash, this.at);
    return age !== null && age <= BLOCKHASH_AGE_MAX;
  }

  lastValidBlockHeight(blockhash: Blockhash): bigint | null {
    const age = this.#sources.recentBlocks.ageOf(blockhash, this.at);
    if (age === null || age > BLOCKHASH_KNOWN_MAX) return null;
    return this.blockHeight + BigInt(BLOCKHASH_AGE_MAX - age);
  }

  #find(kind: AccountKeyKind, key: Address): Iterable<Found> {
    return this.#sources.store.find(kind, key, this.at);
  }

  *#synthesized(): IterableIterator<Found> {
    for (const address of synthesizedSysvars) yield [address, this.#sysvars.account(address) as Account];
  }
}

/** State of the open slot: its newest accounts and its clock. */
export class OpenSlot implements StateView {
  readonly slot: number;
  readonly lastBlockhash: Blockhash;
  readonly clock: Clock;
  readonly #store: AccountsStore;
  readonly #sysvars: SysvarAccounts;

  constructor(header: Pick<SlotHeader, 'slot' | 'blockTime' | 'epochStartTime'>, sources: BankSources) {
    this.slot = header.slot;
    this.lastBlockhash = sources.recentBlocks.newest.blockhash;
    this.clock = clockOf(header, sources.epochSchedule);
    this.#store = sources.store;
    this.#sysvars = new SysvarAccounts({ ...sources, clock: this.clock, lastBlockSlot: header.slot - 1 });
  }

  account(address: Address): Account | null {
    return this.#sysvars.account(address) ?? this.#store.newest(address);
  }
}
