import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import { unlessAborted } from '../../../base/unless-aborted.ts';
import type { Account } from '../../../ledger/account/account.ts';
import type { Address } from '../../../ledger/address.ts';
import { accountOrder, inDeclaredOrder } from '../../../ledger/encoding/declared-order.ts';
import { listOf, objectOf, u64Of } from '../../../ledger/encoding/read-json.ts';
import { readAccount } from '../../../ledger/encoding/read-ui-account.ts';
import type { AccountEncoding } from '../../../ledger/encoding/ui-account.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import { ToldAccount } from '../../../streams/notifier/told-account.ts';
import type { ChainReader } from '../chain-reader.ts';
import { withContext } from './context.ts';
import { JointReads } from './joint-reads.ts';

/** Accounts that getMultipleAccounts takes at once. Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
const ACCOUNTS_MAX = 100;

/** Which accounts are read, and how. */
export type AccountQuestion = Readonly<{
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

function inParsed(address: Address, slot: Slot, shown: JsonValue): ReadAccount {
  const value = writeJson(inDeclaredOrder(shown, accountOrder));
  return {
    address,
    slot,
    account: null,
    result: () => withContext(slot, value),
    keyedResult: () => withContext(slot, `{"pubkey":"${address}","account":${value}}`),
  };
}

function inBytes(address: Address, slot: Slot, shown: JsonValue, encoding: AccountEncoding): ReadAccount {
  const account = shown === null ? null : readAccount(shown);
  const told = new ToldAccount(slot, address, account, () => ({}));
  return {
    address,
    slot,
    account,
    result: () => told.result(encoding),
    keyedResult: () => told.keyedResult(encoding),
  };
}

async function readSome(
  reader: ChainReader,
  { addresses, commitment, encoding, notBefore }: AccountQuestion,
  signal?: AbortSignal,
): Promise<ReadAccount[]> {
  const parsed = encoding === 'jsonParsed';
  const config = { commitment, encoding: parsed ? encoding : 'base64', minContextSlot: notBefore };
  const body = await reader.ask('getMultipleAccounts', [addresses, config], signal);
  const { context, value } = objectOf(parseJson(body.toString('utf8')), 'an answer');
  const slot = slotOf(u64Of(objectOf(context, 'a context').slot, 'a slot'));
  return listOf(value, 'accounts').flatMap((shown, at) => {
    const address = addresses[at];
    if (address === undefined) return [];
    return parsed && shown !== null
      ? inParsed(address, slot, shown)
      : inBytes(address, slot, shown, encoding);
  });
}

/** Questions that go out at the same time. */
const QUESTIONS_MAX = 16;

type Single = Readonly<{ address: Address; notBefore: Slot }>;

/** The accounts that are asked for one by one, put together again, by how they are read. */
const jointReads = new WeakMap<ChainReader, Map<string, JointReads<Single, ReadAccount>>>();

const isTooMuch = (fault: unknown): boolean => fault instanceof Failure && fault.code === 'ANSWER_TOO_LARGE';

function jointlyOf(
  reader: ChainReader,
  { commitment, encoding }: AccountQuestion,
): JointReads<Single, ReadAccount> {
  const known = jointReads.get(reader) ?? new Map<string, JointReads<Single, ReadAccount>>();
  jointReads.set(reader, known);
  const key = `${commitment} ${encoding}`;
  const joint =
    known.get(key) ??
    new JointReads<Single, ReadAccount>({
      itemsMax: ACCOUNTS_MAX,
      questionsMax: QUESTIONS_MAX,
      isTooMuch,
      read: (singles) => {
        const addresses = singles.map(({ address }) => address);
        const notBefore = singles.reduce(
          (most, one) => (one.notBefore > most ? one.notBefore : most),
          slotOf(0),
        );
        return readSome(reader, { addresses, commitment, encoding, notBefore });
      },
    });
  known.set(key, joint);
  return joint;
}

/**
 * Reads accounts as they are now, as many at once as nodes allow. A single one is read together with others that
 * are asked for at the same time.
 * @throws what the reader throws; MalformedJson; AbortError.
 */
export async function* readAccounts(
  reader: ChainReader,
  question: AccountQuestion,
  signal: AbortSignal,
): AsyncGenerator<ReadAccount[]> {
  const [first, ...others] = question.addresses;
  if (first !== undefined && others.length === 0) {
    const reading = jointlyOf(reader, question).read({ address: first, notBefore: question.notBefore });
    const read = await unlessAborted(reading, signal);
    yield [read];
    return;
  }
  for (let at = 0; at < question.addresses.length; at += ACCOUNTS_MAX) {
    const addresses = question.addresses.slice(at, at + ACCOUNTS_MAX);
    yield await readSome(reader, { ...question, addresses }, signal);
  }
}
