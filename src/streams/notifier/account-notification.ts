import { type WritableJson, writeJson } from '../../base/json.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { accountOrder, inDeclaredOrder } from '../../solana/encoding/declared-order.ts';
import type { AccountEncoding } from '../../solana/encoding/encodings.ts';
import { BASE58_DATA_MAX_BYTES, encodeAccount } from '../../solana/encoding/ui-account.ts';
import type { AccountLookup } from '../../solana/parsed/account/parsed-account.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { lamports, type Slot } from '../../solana/units.ts';

export const resultOf = (value: WritableJson): Buffer => Buffer.from(writeJson(value));

/** Wraps a value with its context. Source: Agave rpc-client-types/src/response.rs, `Response`. */
export const resultIn = (slot: Slot, value: WritableJson): Buffer => resultOf({ context: { slot }, value });

/** Sent instead of data that is too long for base58. Source: Agave account-decoder/src/lib.rs. */
const TOO_LARGE_FOR_BASE58 = 'error: data too large for bs58 encoding';

/** A missing or closed account. Source: solana-account, `AccountSharedData::default`. */
export const EMPTY_ACCOUNT: Account = {
  lamports: lamports(0),
  data: new Uint8Array(),
  owner: programs.system,
  executable: false,
  rentEpoch: 0n,
};

function uiAccount(
  address: Address,
  account: Account,
  encoding: AccountEncoding,
  lookup: AccountLookup,
): WritableJson {
  const inBase58 = encoding === 'binary' || encoding === 'base58';
  if (!inBase58 || account.data.length <= BASE58_DATA_MAX_BYTES) {
    return inDeclaredOrder(encodeAccount(address, account, encoding, null, lookup), accountOrder);
  }
  return {
    lamports: account.lamports,
    data: encoding === 'binary' ? TOO_LARGE_FOR_BASE58 : [TOO_LARGE_FOR_BASE58, 'base58'],
    owner: account.owner,
    executable: account.executable,
    rentEpoch: account.rentEpoch,
    space: account.data.length,
  };
}

/** An account update, whose JSON is cached per encoding. */
export class AccountNotification {
  readonly slot: Slot;
  readonly address: Address;
  readonly account: Account | null;
  readonly #lookup: (slot: Slot) => AccountLookup;
  readonly #encodings = new Map<AccountEncoding, WritableJson>();
  readonly #results = new Map<AccountEncoding, Buffer>();
  readonly #keyedResults = new Map<AccountEncoding, Buffer | null>();

  constructor(slot: Slot, address: Address, account: Account | null, lookup: (slot: Slot) => AccountLookup) {
    this.slot = slot;
    this.address = address;
    this.account = account;
    this.#lookup = lookup;
  }

  /** `{context, value: account}`, with the empty account if the account was closed. */
  result(encoding: AccountEncoding): Buffer {
    const existing = this.#results.get(encoding);
    if (existing !== undefined) return existing;
    const result = resultIn(this.slot, this.#encode(encoding));
    this.#results.set(encoding, result);
    return result;
  }

  /** `{context, value: {pubkey, account}}`; null (omitted) for a token account that `jsonParsed` cannot parse. */
  keyedResult(encoding: AccountEncoding): Buffer | null {
    const existing = this.#keyedResults.get(encoding);
    if (existing !== undefined) return existing;
    const result = this.#isOmitted(encoding)
      ? null
      : resultIn(this.slot, { pubkey: this.address, account: this.#encode(encoding) });
    this.#keyedResults.set(encoding, result);
    return result;
  }

  #encode(encoding: AccountEncoding): WritableJson {
    const existing = this.#encodings.get(encoding);
    if (existing !== undefined) return existing;
    const lookup = encoding === 'jsonParsed' ? this.#lookup(this.slot) : {};
    const encoded = uiAccount(this.address, this.account ?? EMPTY_ACCOUNT, encoding, lookup);
    this.#encodings.set(encoding, encoded);
    return encoded;
  }

  #isOmitted(encoding: AccountEncoding): boolean {
    if (encoding !== 'jsonParsed' || this.account === null || !isTokenProgram(this.account.owner))
      return false;
    const { data } = this.#encode(encoding) as { readonly data: WritableJson };
    return Array.isArray(data);
  }
}
