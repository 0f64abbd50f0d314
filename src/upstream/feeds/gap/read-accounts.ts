import { unlessAborted } from '../../../base/concurrency/unless-aborted.ts';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import { accountOrder, inDeclaredOrder } from '../../../solana/encoding/declared-order.ts';
import { listOf, objectOf, u64Of } from '../../../solana/encoding/read-json.ts';
import { type AccountEncoding, readAccount } from '../../../solana/encoding/ui-account.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { AccountNotification } from '../../../streams/notifier/account-notification.ts';
import type { ChainReader } from '../chain-reader.ts';
import { withContext } from './context.ts';
import { ReadBatcher } from './read-batcher.ts';

/** Accounts that getMultipleAccounts takes at once. Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
const ACCOUNTS_MAX = 100;

/** Which accounts are read, and how. */
export type AccountQuery = Readonly<{
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
