import { chunk } from '../../base/chunk.ts';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { listOf, MalformedJson, objectOf, stringOf } from '../../solana/encoding/read-json.ts';
import { readAccount } from '../../solana/encoding/ui-account.ts';

const ACCOUNTS_PER_CALL = 100;

const CALLS_AT_A_TIME = 8;

export type AccountAt = Readonly<{ address: Address; account: Account }>;

type TokenFilter = Readonly<{ programId: Address }> | Readonly<{ mint: Address }>;

export type Memcmp = Readonly<{ offset: number; bytes: string }>;

/** Account reads on one network for one caller. A malformed node response causes UPSTREAM_UNAVAILABLE. */
export class Chain {
  readonly network: Network;
  readonly commitment: Commitment;
  readonly #caller: RestCaller;

  constructor(network: Network, caller: RestCaller, commitment: Commitment = 'finalized') {
    this.network = network;
    this.commitment = commitment;
    this.#caller = caller;
  }

  get #config() {
    return { encoding: 'base64', commitment: this.commitment };
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  request(method: string, params: readonly WritableJson[]): Promise<JsonValue> {
    return this.#caller.request(this.network, method, params);
  }

  async read<T>(
    method: string,
    params: readonly WritableJson[],
    read: (result: JsonValue) => T | Promise<T>,
  ): Promise<T> {
    return decodeResult(await this.request(method, params), read);
  }

  each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
    return mapConcurrent(items, CALLS_AT_A_TIME, work);
  }

  async accounts(addresses: Iterable<Address>): Promise<Map<Address, Account>> {
    const found = new Map<Address, Account>();
    await this.each(chunk([...new Set(addresses)], ACCOUNTS_PER_CALL), async (part) => {
      const values = await this.read('getMultipleAccounts', [part, this.#config], (result) =>
        readAccounts(result, part.length),
      );
      values.forEach((account, at) => {
        const address = part[at];
        if (account !== null && address !== undefined) found.set(address, account);
      });
    });
    return found;
  }

  programAccounts(
    program: Address,
    filters: readonly (Readonly<{ dataSize: number }> | Readonly<{ memcmp: Memcmp }>)[],
    dataSlice?: Readonly<{ offset: number; length: number }>,
  ): Promise<AccountAt[]> {
    const config = { ...this.#config, filters, ...(dataSlice === undefined ? {} : { dataSlice }) };
    return this.read('getProgramAccounts', [program, config], (result) =>
      mapTimeSliced(listOf(result, 'getProgramAccounts'), readAccountAt),
    );
  }

  tokenAccounts(owner: Address, which: TokenFilter): Promise<AccountAt[]> {
    return this.read('getTokenAccountsByOwner', [owner, which, this.#config], (result) =>
      mapTimeSliced(listOf(objectOf(result, 'getTokenAccountsByOwner').value, 'value'), readAccountAt),
    );
  }
}

/** @throws Failure UPSTREAM_UNAVAILABLE if the result is malformed. */
export async function decodeResult<T>(
  result: JsonValue,
  read: (result: JsonValue) => T | Promise<T>,
): Promise<T> {
  try {
    return await read(result);
  } catch (thrown) {
    if (!(thrown instanceof MalformedJson)) throw thrown;
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause: thrown });
  }
}

/** Checks the length: in a list that is too short, missing entries would look like absent accounts. */
function readAccounts(result: JsonValue, requested: number): (Account | null)[] {
  const values = listOf(objectOf(result, 'getMultipleAccounts').value, 'value');
  if (values.length !== requested) throw new MalformedJson('one entry per requested account');
  return values.map((value) => (value === null ? null : readAccount(value)));
}

function readAccountAt(item: JsonValue): AccountAt {
  const { pubkey, account } = objectOf(item, 'an account');
  if (account === undefined) throw new MalformedJson('an account is missing');
  return { address: stringOf(pubkey, 'pubkey') as Address, account: readAccount(account) };
}

/** Chain that reads each account and each token account list at most once per request. */
export class MemoizedChain extends Chain {
  readonly #accounts = new Map<Address, Promise<Map<Address, Account>>>();
  readonly #tokenAccounts = new Map<string, Promise<AccountAt[]>>();

  override async accounts(addresses: Iterable<Address>): Promise<Map<Address, Account>> {
    const requested = [...new Set(addresses)];
    const unread = requested.filter((address) => !this.#accounts.has(address));
    const reading = super.accounts(unread);
    for (const address of unread) this.#accounts.set(address, reading);
    const parts = await Promise.all(new Set(requested.map((address) => this.#accounts.get(address)!)));
    const found = new Map(parts.flatMap((part) => [...part]));
    return new Map(
      requested.flatMap((address) => {
        const account = found.get(address);
        return account === undefined ? [] : [[address, account] as const];
      }),
    );
  }

  override tokenAccounts(owner: Address, which: TokenFilter): Promise<AccountAt[]> {
    const key = JSON.stringify([owner, which]);
    const cached = this.#tokenAccounts.get(key) ?? super.tokenAccounts(owner, which);
    this.#tokenAccounts.set(key, cached);
    return cached;
  }
}
