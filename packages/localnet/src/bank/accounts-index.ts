import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { isTokenProgram } from '../../../../src/solana/programs.ts';
import { hasDelegate, isTokenAccount, tokenKeyOffsets } from '../../../../src/solana/token/token-state.ts';

/** The last three kinds apply to Token and Token-2022 accounts (not mints). */
export type AccountKeyKind = 'owner' | 'wallet' | 'mint' | 'delegate';

/** 32 raw bytes as latin1: a third of the cost of base58, and only equality matters. */
const rawKey = (data: Uint8Array, offset: number): string =>
  Buffer.from(data.buffer, data.byteOffset + offset, 32).toString('latin1', 0, 32);

/** null if the account has no key of this kind. */
function keyOf(kind: AccountKeyKind, account: Account): string | null {
  if (kind === 'owner') return account.owner;
  if (!isTokenProgram(account.owner) || !isTokenAccount(account.data)) return null;
  if (kind === 'mint') return rawKey(account.data, tokenKeyOffsets.mint);
  if (kind === 'wallet') return rawKey(account.data, tokenKeyOffsets.owner);
  return hasDelegate(account.data) ? rawKey(account.data, tokenKeyOffsets.delegate) : null;
}

/** The index also covers other versions of an account, so readers check theirs with this function. */
export function matchesKey(kind: AccountKeyKind, key: Address, account: Account): boolean {
  return keyOf(kind, account) === lookupKey(kind, key);
}

function lookupKey(kind: AccountKeyKind, key: Address): string {
  return kind === 'owner' ? key : rawKey(addressBytes(key), 0);
}

const kinds: readonly AccountKeyKind[] = ['owner', 'wallet', 'mint', 'delegate'];

/**
 * Secondary indexes of accounts. An address stays indexed under a key while any retained version has that
 * key; readers check their own version with `matchesKey`.
 */
export class AccountsIndex {
  /** Most keys have one address; a Set is created when a second one is added. */
  readonly #maps: Record<AccountKeyKind, Map<string, Address | Set<Address>>> = {
    owner: new Map(),
    wallet: new Map(),
    mint: new Map(),
    delegate: new Map(),
  };

  /** Addresses with the key in any retained version. */
  addresses(kind: AccountKeyKind, key: Address): Iterable<Address> {
    const found = this.#maps[kind].get(lookupKey(kind, key));
    if (found === undefined) return [];
    return typeof found === 'string' ? [found] : found;
  }

  add(address: Address, account: Account): void {
    for (const kind of kinds) {
      const key = keyOf(kind, account);
      if (key !== null) this.#put(this.#maps[kind], key, address);
    }
  }

  /** Removes keys of a dropped version that no retained version has. */
  drop(address: Address, dropped: Account, retained: readonly Account[]): void {
    for (const kind of kinds) {
      const key = keyOf(kind, dropped);
      if (key === null || retained.some((account) => keyOf(kind, account) === key)) continue;
      this.#remove(this.#maps[kind], key, address);
    }
  }

  #put(map: Map<string, Address | Set<Address>>, key: string, address: Address): void {
    const found = map.get(key);
    if (found === undefined) map.set(key, address);
    else if (typeof found !== 'string') found.add(address);
    else if (found !== address) map.set(key, new Set([found, address]));
  }

  #remove(map: Map<string, Address | Set<Address>>, key: string, address: Address): void {
    const found = map.get(key);
    if (found === undefined) return;
    if (typeof found !== 'string') {
      found.delete(address);
      if (found.size > 0) return;
    } else if (found !== address) return;
    map.delete(key);
  }
}
