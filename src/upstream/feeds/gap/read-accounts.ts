import { Semaphore } from '../../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../../base/concurrency/unless-aborted.ts';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../../solana/block.ts';
import { accountOrder, inDeclaredOrder } from '../../../solana/encoding/declared-order.ts';
import { listOf, objectOf, u64Of } from '../../../solana/encoding/read-json.ts';
import { readAccount } from '../../../solana/encoding/read-ui-account.ts';
import type { AccountEncoding } from '../../../solana/encoding/ui-account.ts';
import { allKeys, isWritable } from '../../../solana/message/message-keys.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { AccountNotification } from '../../../streams/notifier/account-notification.ts';
import type { ChainReader } from '../chain-reader.ts';
import { withContext } from './continuity.ts';

/** Reads many things with one question. @returns as many results, in the same order. */
type ReadMany<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

type ReadBatcherOptions<Item, Result> = Readonly<{
  /** Items of one question. */
  itemsMax: number;
  /** Questions at a time. */
  requestsMax: number;
  /** Whether fewer items at once may well be answered. */
  isTooLarge: (fault: unknown) => boolean;
  read: ReadMany<Item, Result>;
}>;

/** How long items gather: those who wait for the same slot come within one turn or a few. */
const GATHER_MS = 5;

type PendingRead<Item, Result> = Readonly<{
  item: Item;
  resolve: (result: Result) => void;
  reject: (fault: unknown) => void;
}>;

/** Puts what is asked for at the same time into one question. */
class ReadBatcher<Item, Result> {
  readonly #options: ReadBatcherOptions<Item, Result>;
  readonly #requestSemaphore: Semaphore;
  #pending: PendingRead<Item, Result>[] = [];

  constructor(options: ReadBatcherOptions<Item, Result>) {
    this.#options = options;
    this.#requestSemaphore = new Semaphore(options.requestsMax);
  }

  /** @throws whatever `read` throws. */
  read(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setTimeout(() => this.#flush(), GATHER_MS);
      this.#pending.push({ item, resolve, reject });
      if (this.#pending.length === this.#options.itemsMax) this.#flush();
    });
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length > 0) void this.#requestSemaphore.run(() => this.#send(pending));
  }

  async #send(pending: readonly PendingRead<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.read(pending.map(({ item }) => item));
      for (const [at, { resolve, reject }] of pending.entries()) {
        const result = results[at];
        if (result === undefined) reject(new Error('an answer is too short'));
        else resolve(result);
      }
    } catch (fault) {
      if (pending.length > 1 && this.#options.isTooLarge(fault)) {
        const half = Math.ceil(pending.length / 2);
        await this.#send(pending.slice(0, half));
        await this.#send(pending.slice(half));
      } else for (const { reject } of pending) reject(fault);
    }
  }
}

/** Accounts that getMultipleAccounts takes at once. Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
const ACCOUNTS_MAX = 100;

/** Which accounts are read, and how. */
type AccountQuery = Readonly<{
  addresses: readonly Address[];
  commitment: Commitment;
  encoding: AccountEncoding;
  /** Only nodes that have come so far may answer. */
  notBefore: Slot;
}>;

/** An account as a node tells it now. */
export type ReadAccount = Readonly<{
  address: Address;
  slot: Slot;
  /** null where it is not there, and for an account in the encoding `jsonParsed`. */
  account: Account | null;
  /** The JSON of the account alone, and of `{pubkey, account}`, as PubSub writes them with their context. */
  result: () => Buffer;
  keyedResult: () => Buffer | null;
}>;

function parsedAccount(address: Address, slot: Slot, json: JsonValue): ReadAccount {
  const value = writeJson(inDeclaredOrder(json, accountOrder));
  return {
    address,
    slot,
    account: null,
    result: () => withContext(slot, value),
    keyedResult: () => withContext(slot, `{"pubkey":"${address}","account":${value}}`),
  };
}

function binaryAccount(
  address: Address,
  slot: Slot,
  json: JsonValue,
  encoding: AccountEncoding,
): ReadAccount {
  const account = json === null ? null : readAccount(json);
  const notification = new AccountNotification(slot, address, account, () => ({}));
  return {
    address,
    slot,
    account,
    result: () => notification.result(encoding),
    keyedResult: () => notification.keyedResult(encoding),
  };
}

async function readBatch(
  reader: ChainReader,
  { addresses, commitment, encoding, notBefore }: AccountQuery,
  signal?: AbortSignal,
): Promise<ReadAccount[]> {
  const parsed = encoding === 'jsonParsed';
  const config = { commitment, encoding: parsed ? encoding : 'base64', minContextSlot: notBefore };
  const body = await reader.request('getMultipleAccounts', [addresses, config], signal);
  const { context, value } = objectOf(parseJson(body.toString('utf8')), 'an answer');
  const slot = slotOf(u64Of(objectOf(context, 'a context').slot, 'a slot'));
  return listOf(value, 'accounts').flatMap((json, at) => {
    const address = addresses[at];
    if (address === undefined) return [];
    return parsed && json !== null
      ? parsedAccount(address, slot, json)
      : binaryAccount(address, slot, json, encoding);
  });
}

/** Questions that go out at the same time. */
const REQUESTS_MAX = 16;

type AccountRead = Readonly<{ address: Address; notBefore: Slot }>;

/** The accounts that are asked for one by one, put together again, by how they are read. */
const batchersByReader = new WeakMap<ChainReader, Map<string, ReadBatcher<AccountRead, ReadAccount>>>();

const isTooLarge = (fault: unknown): boolean => fault instanceof Failure && fault.code === 'ANSWER_TOO_LARGE';

function batcherOf(
  reader: ChainReader,
  { commitment, encoding }: AccountQuery,
): ReadBatcher<AccountRead, ReadAccount> {
  const batchers = batchersByReader.get(reader) ?? new Map<string, ReadBatcher<AccountRead, ReadAccount>>();
  batchersByReader.set(reader, batchers);
  const key = `${commitment} ${encoding}`;
  const batcher =
    batchers.get(key) ??
    new ReadBatcher<AccountRead, ReadAccount>({
      itemsMax: ACCOUNTS_MAX,
      requestsMax: REQUESTS_MAX,
      isTooLarge,
      read: (singles) => {
        const addresses = singles.map(({ address }) => address);
        const notBefore = singles.reduce(
          (most, one) => (one.notBefore > most ? one.notBefore : most),
          slotOf(0),
        );
        return readBatch(reader, { addresses, commitment, encoding, notBefore });
      },
    });
  batchers.set(key, batcher);
  return batcher;
}

/**
 * Reads accounts as they are now, as many at once as nodes allow. A single one is read together with others that
 * are asked for at the same time.
 * @throws what the reader throws; MalformedJson; AbortError.
 */
export async function* readAccounts(
  reader: ChainReader,
  query: AccountQuery,
  signal: AbortSignal,
): AsyncGenerator<ReadAccount[]> {
  const [first, ...others] = query.addresses;
  if (first !== undefined && others.length === 0) {
    const reading = batcherOf(reader, query).read({ address: first, notBefore: query.notBefore });
    const read = await unlessAborted(reading, signal);
    yield [read];
    return;
  }
  for (let at = 0; at < query.addresses.length; at += ACCOUNTS_MAX) {
    const addresses = query.addresses.slice(at, at + ACCOUNTS_MAX);
    yield await readBatch(reader, { ...query, addresses }, signal);
  }
}

/** Accounts that a failed transaction still writes: who pays, and a nonce that moves on, which comes first. */
function writtenByFailed({ transaction: { message } }: ExecutedTransaction): Address[] {
  const nonce = message.instructions[0]?.accounts[0];
  const keys = [message.accountKeys[0], nonce === undefined ? undefined : message.accountKeys[nonce]];
  return keys.filter((key) => key !== undefined);
}

function writtenBy(executed: ExecutedTransaction): Address[] {
  const { transaction, meta } = executed;
  if (meta.err !== null) return writtenByFailed(executed);
  const { message } = transaction;
  return allKeys(message, meta.loadedAddresses).filter((_, index) =>
    isWritable(message, index, meta.loadedAddresses),
  );
}

/**
 * The accounts that a block's transactions and rewards may have written. What the runtime writes by itself, such
 * as sysvars, is not among them.
 */
export function writtenAccounts({ transactions, rewards }: Block): Set<Address> {
  const accounts = new Set(rewards.map(({ pubkey }) => pubkey));
  for (const executed of transactions) for (const key of writtenBy(executed)) accounts.add(key);
  return accounts;
}
