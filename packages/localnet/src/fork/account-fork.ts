import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { resolveLookups } from '../../../../src/solana/address-lookup-table.ts';
import type { Message } from '../../../../src/solana/message/message.ts';
import { isTokenProgram, sysvarOwner } from '../../../../src/solana/programs.ts';
import { decodeTokenAccount } from '../../../../src/solana/token/token-state.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import { synthesizedSysvars } from '../bank/sysvar-accounts.ts';
import { programDataAddressOf } from '../bank/vm-accounts.ts';
import type { ForkIndex } from './fork-index.ts';
import { CALL_MAX_ADDRESSES, type RemoteAccounts, RemoteAccountsError } from './remote-accounts.ts';

const CALLS_MAX = 4;
const WAITING_MAX_ADDRESSES = 10_000;
/** The index would use about 100 MB. */
const KNOWN_MAX_ADDRESSES = 1_000_000;

type ForkedLedger = Readonly<{
  openSlot: number;
  bank(commitment: 'processed'): Readonly<{ slot: Slot }>;
  newestAccount(address: Address): Account | null;
  importAccounts(accounts: readonly (readonly [Address, Account])[]): void;
}>;

type Waiting = Readonly<{ address: Address; resolve: () => void; reject: (error: unknown) => void }>;

type OnImport = (address: Address, account: Account) => void;

/**
 * Reads accounts from another cluster when they are first needed, each once: what the ledger has, had, or found absent
 * is not read again. Accounts become part of the open slot and are visible at all commitments.
 */
export class AccountFork {
  readonly #ledger: ForkedLedger;
  readonly #remote: Pick<RemoteAccounts, 'read'>;
  readonly #index: ForkIndex;
  readonly #reading = new Map<Address, Promise<void>>();
  readonly #waiting: Waiting[] = [];
  readonly #listeners: OnImport[] = [];
  #calls = 0;
  #isScheduled = false;

  constructor(ledger: ForkedLedger, remote: Pick<RemoteAccounts, 'read'>, index: ForkIndex) {
    this.#ledger = ledger;
    this.#remote = remote;
    this.#index = index;
  }

  /**
   * Completes when all accounts that exist are in the ledger.
   * @throws RpcError -32603 if the cluster does not respond, or at a limit.
   */
  async ensure(addresses: Iterable<Address>): Promise<void> {
    const missing = [...new Set(addresses)].filter((address) => this.#isMissing(address));
    if (missing.length === 0) return;
    await Promise.all(missing.map((address) => this.#reading.get(address) ?? this.#enqueue(address)));
  }

  /** Like `ensure`, for what an execution reads: keys, lookup tables, code of programs, mints of token accounts. */
  async ensureMessage(message: Message): Promise<void> {
    const tables = message.addressTableLookups.map(({ accountKey }) => accountKey);
    await this.ensure([...message.accountKeys, ...tables]);
    const { slot } = this.#ledger.bank('processed');
    const resolved = resolveLookups(message, (address) => this.#ledger.newestAccount(address), slot);
    const loaded = 'fault' in resolved ? [] : [...resolved.loaded.writable, ...resolved.loaded.readonly];
    await this.ensure(loaded);
    await this.ensureReferred([...message.accountKeys, ...loaded]);
  }

  /** Like `ensure`, for the code of programs and the mints of token accounts among accounts of the ledger. */
  async ensureReferred(addresses: readonly Address[]): Promise<void> {
    await this.ensure(addresses.flatMap((address) => this.#referredBy(address)));
  }

  /** The next read of these accounts is from the cluster. */
  forget(addresses: readonly Address[]): void {
    this.#index.remove(addresses);
  }

  /** @param listener - called for each account that was read. */
  onImport(listener: OnImport): void {
    this.#listeners.push(listener);
  }

  #referredBy(address: Address): Address[] {
    const account = this.#ledger.newestAccount(address);
    if (account === null) return [];
    const code = account.executable ? programDataAddressOf(account) : null;
    if (code !== null) return [code];
    const token = isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : null;
    return token === null ? [] : [token.mint];
  }

  /** Remembers accounts of the ledger, so that they are not read after they are removed. */
  #isMissing(address: Address): boolean {
    if (synthesizedSysvars.has(address) || address === sysvarOwner || this.#index.has(address)) return false;
    if (this.#ledger.newestAccount(address) === null) return true;
    this.#remember([address]);
    return false;
  }

  #enqueue(address: Address): Promise<void> {
    if (this.#reading.size >= WAITING_MAX_ADDRESSES) throw overLimit('waiting for', WAITING_MAX_ADDRESSES);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#reading.set(address, promise);
    this.#waiting.push({ address, resolve, reject });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => this.#startCalls());
    }
    return promise;
  }

  #startCalls(): void {
    this.#isScheduled = false;
    while (this.#calls < CALLS_MAX && this.#waiting.length > 0) {
      void this.#read(this.#waiting.splice(0, CALL_MAX_ADDRESSES));
    }
  }

  async #read(batch: readonly Waiting[]): Promise<void> {
    this.#calls++;
    const addresses = batch.map(({ address }) => address);
    try {
      const accounts = await this.#remote.read(addresses);
      this.#import(addresses, accounts);
      for (const { resolve } of batch) resolve();
    } catch (thrown) {
      const error =
        thrown instanceof RemoteAccountsError ? new RpcError(-32603, `Fork: ${thrown.message}`) : thrown;
      for (const { reject } of batch) reject(error);
    }
    for (const address of addresses) this.#reading.delete(address);
    this.#calls--;
    this.#startCalls();
  }

  #import(addresses: readonly Address[], accounts: readonly (Account | null)[]): void {
    const found = addresses.flatMap((address, index): [Address, Account][] => {
      const account = accounts[index] ?? null;
      const isLocal = this.#ledger.newestAccount(address) !== null;
      return account === null || account.lamports === 0n || isLocal ? [] : [[address, account]];
    });
    this.#ledger.importAccounts(found);
    this.#remember(addresses);
    for (const [address, account] of found)
      for (const listener of this.#listeners) listener(address, account);
  }

  #remember(addresses: readonly Address[]): void {
    if (this.#index.size + addresses.length > KNOWN_MAX_ADDRESSES) {
      throw overLimit('remembering', KNOWN_MAX_ADDRESSES);
    }
    this.#index.add(addresses, this.#ledger.openSlot);
  }
}

const overLimit = (doing: string, max: number): RpcError =>
  new RpcError(-32603, `Fork: already ${doing} ${max} addresses`);
