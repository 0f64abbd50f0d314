import { Semaphore } from '../../../base/concurrency/semaphore.ts';
import { unlessAborted } from '../../../base/concurrency/unless-aborted.ts';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import type { Block, ExecutedTransaction } from '../../../solana/block.ts';
import { accountOrder, inDeclaredOrder } from '../../../solana/encoding/declared-order.ts';
import type { AccountEncoding } from '../../../solana/encoding/encodings.ts';
import { listOf, objectOf, u64Of } from '../../../solana/encoding/read-json.ts';
import { readAccount } from '../../../solana/encoding/ui-account.ts';
import { allKeys, isWritable } from '../../../solana/message/message-keys.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { AccountNotification } from '../../../streams/notifier/account-notification.ts';
import type { ChainReader } from '../chain-reader.ts';
import { withContext } from './gap-recovery.ts';

/** Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
const ACCOUNTS_MAX = 100;
const GATHER_MS = 5;
const REQUESTS_MAX = 16;

type PendingRead = Readonly<{ address: Address; minContextSlot: Slot }> &
  Pick<PromiseWithResolvers<AccountResult>, 'resolve' | 'reject'>;

type ReadAll = (addresses: readonly Address[], minContextSlot: Slot) => Promise<readonly AccountResult[]>;

class ReadBatcher {
  readonly #readAll: ReadAll;
  readonly #requestSemaphore = new Semaphore(REQUESTS_MAX);
  #pending: PendingRead[] = [];

  constructor(readAll: ReadAll) {
    this.#readAll = readAll;
  }

  read(address: Address, minContextSlot: Slot): Promise<AccountResult> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setTimeout(() => this.#flush(), GATHER_MS);
      this.#pending.push({ address, minContextSlot, resolve, reject });
      if (this.#pending.length === ACCOUNTS_MAX) this.#flush();
    });
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length > 0) void this.#requestSemaphore.run(() => this.#send(pending));
  }

  async #send(pending: readonly PendingRead[]): Promise<void> {
    try {
      const minContextSlot = pending.reduce(
        (highest, one) => (one.minContextSlot > highest ? one.minContextSlot : highest),
        slotOf(0),
      );
      const addresses = pending.map(({ address }) => address);
      const results = await this.#readAll(addresses, minContextSlot);
      for (const [index, { resolve, reject }] of pending.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error('response has too few items'));
        else resolve(result);
      }
    } catch (error) {
      if (pending.length > 1 && error instanceof Failure && error.code === 'ANSWER_TOO_LARGE') {
        const half = Math.ceil(pending.length / 2);
        await this.#send(pending.slice(0, half));
        await this.#send(pending.slice(half));
      } else for (const { reject } of pending) reject(error);
    }
  }
}

type AccountQuery = Readonly<{
  addresses: readonly Address[];
  commitment: Commitment;
  encoding: AccountEncoding;
  minContextSlot: Slot;
}>;

export type AccountResult = Readonly<{
  address: Address;
  slot: Slot;
  /** Null if the account is missing or the encoding is `jsonParsed`. */
  account: Account | null;
  result: () => Buffer;
  keyedResult: () => Buffer | null;
}>;

function parsedAccount(address: Address, slot: Slot, json: JsonValue): AccountResult {
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
): AccountResult {
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
  { addresses, commitment, encoding, minContextSlot }: AccountQuery,
  signal?: AbortSignal,
): Promise<AccountResult[]> {
  const parsed = encoding === 'jsonParsed';
  const config = { commitment, encoding: parsed ? encoding : 'base64', minContextSlot };
  const body = await reader.request('getMultipleAccounts', [addresses, config], signal);
  const { context, value } = objectOf(parseJson(body.toString('utf8')), 'response');
  const slot = slotOf(u64Of(objectOf(context, 'context').slot, 'slot'));
  return listOf(value, 'accounts').flatMap((json, index) => {
    const address = addresses[index];
    if (address === undefined) return [];
    return parsed && json !== null
      ? parsedAccount(address, slot, json)
      : binaryAccount(address, slot, json, encoding);
  });
}

const batchersByReader = new WeakMap<ChainReader, Map<string, ReadBatcher>>();

function batcherOf(reader: ChainReader, { commitment, encoding }: AccountQuery): ReadBatcher {
  const batchers = batchersByReader.get(reader) ?? new Map<string, ReadBatcher>();
  batchersByReader.set(reader, batchers);
  const key = `${commitment} ${encoding}`;
  const batcher =
    batchers.get(key) ??
    new ReadBatcher((addresses, minContextSlot) =>
      readBatch(reader, { addresses, commitment, encoding, minContextSlot }),
    );
  batchers.set(key, batcher);
  return batcher;
}

/** Reads up to 100 accounts per request. Concurrent reads of single accounts are batched. */
export async function* readAccounts(
  reader: ChainReader,
  query: AccountQuery,
  signal: AbortSignal,
): AsyncGenerator<AccountResult[]> {
  const [first, ...others] = query.addresses;
  if (first !== undefined && others.length === 0) {
    const reading = batcherOf(reader, query).read(first, query.minContextSlot);
    const read = await unlessAborted(reading, signal);
    yield [read];
    return;
  }
  for (let at = 0; at < query.addresses.length; at += ACCOUNTS_MAX) {
    const addresses = query.addresses.slice(at, at + ACCOUNTS_MAX);
    yield await readBatch(reader, { ...query, addresses }, signal);
  }
}

/** A failed transaction can still write its fee payer and the first account of the first instruction, maybe a nonce. */
function writtenByFailedTransaction({ transaction: { message } }: ExecutedTransaction): Address[] {
  const nonce = message.instructions[0]?.accounts[0];
  const keys = [message.accountKeys[0], nonce === undefined ? undefined : message.accountKeys[nonce]];
  return keys.filter((key) => key !== undefined);
}

function writtenBy(executed: ExecutedTransaction): Address[] {
  const { transaction, meta } = executed;
  if (meta.err !== null) return writtenByFailedTransaction(executed);
  const { message } = transaction;
  return allKeys(message, meta.loadedAddresses).filter((_, index) =>
    isWritable(message, index, meta.loadedAddresses),
  );
}

/** Accounts that a block's transactions and rewards may have written. Excludes runtime writes, such as to sysvars. */
export function writtenAccounts({ transactions, rewards }: Block): Set<Address> {
  const accounts = new Set(rewards.map(({ pubkey }) => pubkey));
  for (const executed of transactions) for (const key of writtenBy(executed)) accounts.add(key);
  return accounts;
}
