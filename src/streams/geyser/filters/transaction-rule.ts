import type { RawKeys, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import type { TransactionsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import { signatureBytes } from '../../../solana/signature.ts';
import { type AddressSet, type Cuckoo, compileCuckoo, overlaps, setOrNull } from './address-set.ts';
import { sameAddress } from './address-table.ts';
import { NO_KEYS, type TokenOwners } from './token-owners.ts';

function contains({ bytes, offsets }: RawKeys, address: Uint8Array): boolean {
  for (const offset of offsets) {
    if (sameAddress(bytes, offset, address, 0)) return true;
  }
  return false;
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (left[i] !== right[i]) return false;
  }
  return true;
}

/** All conditions must hold; null conditions always hold. */
export class TransactionRule {
  readonly name: string;
  /** 64 bytes. */
  readonly signature: Uint8Array | null;
  readonly include: AddressSet | null;
  /** Alternative to `include`: a match with either is enough. */
  readonly cuckoo: Cuckoo | null;
  readonly required: readonly Uint8Array[];
  /** The token accounts whose owners are matched like keys; null: none. */
  readonly tokenAccounts: 'all' | 'balanceChanged' | null;
  readonly #exclude: AddressSet | null;
  readonly #vote: boolean | null;
  readonly #failed: boolean | null;

  /** @throws InvalidFilter */
  constructor(name: string, filter: TransactionsFilter) {
    this.name = name;
    this.signature = filter.signature === undefined ? null : signatureBytes(filter.signature);
    this.include = setOrNull(filter.accountInclude);
    this.cuckoo = compileCuckoo(filter.cuckooAccountInclude);
    this.required = setOrNull(filter.accountRequired)?.addresses ?? [];
    this.tokenAccounts = filter.tokenAccounts ?? null;
    this.#exclude = setOrNull(filter.accountExclude);
    this.#vote = filter.vote ?? null;
    this.#failed = filter.failed ?? null;
  }

  passesStatus(isVote: boolean, hasFailed: boolean): boolean {
    if (this.#vote !== null && this.#vote !== isVote) return false;
    return this.#failed === null || this.#failed === hasFailed;
  }

  /** `isIncluded`: whether a key of the transaction is already known to be in `include`. */
  passes(transaction: RawTransaction, owners: TokenOwners, isIncluded: boolean): boolean {
    if (!this.passesStatus(transaction.isVote, transaction.err !== null)) return false;
    if (this.signature !== null && !same(this.signature, transaction.signature)) return false;
    const { keys } = transaction;
    const ownerKeys = this.tokenAccounts === null ? NO_KEYS : owners.of(transaction, this.tokenAccounts);
    return (
      this.#hasRequired(keys, ownerKeys) &&
      (isIncluded || this.#includes(keys, ownerKeys)) &&
      (this.#exclude === null || !(overlaps(this.#exclude, keys) || overlaps(this.#exclude, ownerKeys)))
    );
  }

  /** Fails early if the filter requires more keys than the transaction has. */
  #hasRequired(keys: RawKeys, more: RawKeys): boolean {
    if (this.required.length > keys.offsets.length + more.offsets.length) return false;
    for (const address of this.required) {
      if (!contains(keys, address) && !contains(more, address)) return false;
    }
    return true;
  }

  #includes(keys: RawKeys, more: RawKeys): boolean {
    const { include, cuckoo } = this;
    if (include === null && cuckoo === null) return true;
    if (include !== null && (overlaps(include, keys) || overlaps(include, more))) return true;
    return cuckoo !== null && (overlaps(cuckoo, keys) || overlaps(cuckoo, more));
  }
}
