import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import {
  type AccountDataRule,
  type AccountEqualities,
  compileAccountData,
  equalitiesOf,
} from './account-data-rule.ts';
import { type AddressSet, type Cuckoo, compileCuckoo, setOrNull } from './address-set.ts';

/** All conditions must hold; null conditions always hold. */
export class AccountRule {
  readonly name: string;
  readonly addresses: AddressSet | null;
  readonly owners: AddressSet | null;
  /** Alternative to `addresses`: a match with either is enough. */
  readonly cuckoo: Cuckoo | null;
  readonly equalities: AccountEqualities | null;
  readonly #data: readonly AccountDataRule[] | null;
  readonly #isWrittenByTransaction: boolean | null;

  /** @throws InvalidFilter */
  constructor(name: string, filter: AccountsFilter) {
    this.name = name;
    this.addresses = setOrNull(filter.account);
    this.owners = setOrNull(filter.owner);
    this.cuckoo = compileCuckoo(filter.cuckooAccounts);
    const data = compileAccountData(filter.filters ?? []);
    this.#data = data.length === 0 ? null : data;
    this.equalities = equalitiesOf(filter.filters ?? []);
    this.#isWrittenByTransaction = filter.nonemptyTxnSignature ?? null;
  }

  /** Whether a listed address is sufficient for a match. */
  get isOnlyAddresses(): boolean {
    const { addresses, owners, cuckoo } = this;
    const hasOtherConditions =
      owners !== null || this.#data !== null || this.#isWrittenByTransaction !== null;
    return addresses !== null && cuckoo === null && !hasOtherConditions;
  }

  /** Checks the cuckoo filter last, because it must hash the address. */
  passes(account: RawAccount): boolean {
    return this.passesRest(account) && this.#acceptsAddress(account);
  }

  /** Checks the remaining conditions for an account whose address is listed. */
  passesRest(account: RawAccount): boolean {
    const { owners } = this;
    if (owners !== null && !owners.has(account.owner, 0)) return false;
    return this.#passesByContent(account);
  }

  /** Checks the remaining conditions for an account whose owner is listed. */
  passesGivenOwner(account: RawAccount): boolean {
    return this.#passesByContent(account) && this.#acceptsAddress(account);
  }

  #passesByContent(account: RawAccount): boolean {
    const written = this.#isWrittenByTransaction;
    if (written !== null && written !== (account.signature !== null)) return false;
    return this.#data === null || this.#data.every((rule) => rule(account));
  }

  #acceptsAddress({ address }: RawAccount): boolean {
    const { addresses, cuckoo } = this;
    if (addresses === null && cuckoo === null) return true;
    return addresses?.has(address, 0) === true || cuckoo?.has(address, 0) === true;
  }
}
