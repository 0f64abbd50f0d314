import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { type AccountAt, Chain } from './chain.ts';

/**
 * A chain of which each account, and each list of token accounts, is read once, whoever asks for it and however often.
 * For answers that are made of several others. It lives as long as one request.
 */
export class OnceChain extends Chain {
  readonly #accounts = new Map<Address, Promise<Map<Address, Account>>>();
  readonly #tokenAccounts = new Map<string, Promise<AccountAt[]>>();

  /** As `Chain.accounts`; those that were asked for before are not asked for again. */
  override async accounts(addresses: Iterable<Address>): Promise<Map<Address, Account>> {
    const requested = [...new Set(addresses)];
    const unread = requested.filter((address) => !this.#accounts.has(address));
    const reading = super.accounts(unread);
    for (const address of unread) this.#accounts.set(address, reading);
    const parts = await Promise.all(
      new Set([reading, ...requested.flatMap((one) => this.#accounts.get(one) ?? [])]),
    );
    const found = new Map(parts.flatMap((part) => [...part]));
    return new Map(
      requested.flatMap((address) => {
        const account = found.get(address);
        return account === undefined ? [] : [[address, account] as const];
      }),
    );
  }

  /** As `Chain.tokenAccounts`, once for each question. */
  override tokenAccounts(
    owner: Address,
    which: Readonly<{ programId: Address }> | Readonly<{ mint: Address }>,
  ): Promise<AccountAt[]> {
    const key = JSON.stringify([owner, which]);
    const cached = this.#tokenAccounts.get(key) ?? super.tokenAccounts(owner, which);
    this.#tokenAccounts.set(key, cached);
    return cached;
  }
}
