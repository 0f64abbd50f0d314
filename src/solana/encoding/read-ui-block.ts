import { type JsonValue, parseJson } from '../../base/json.ts';
import { MALFORMED, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Block, ExecutedTransaction } from '../block.ts';
import { type Blockhash, parseBlockhash } from '../blockhash.ts';
import { decodeTransaction } from '../transaction/decode-transaction.ts';
import { type Slot, slot as slotOf } from '../units.ts';
import { integerOf, listOf, MalformedJson, objectOf, orNull, stringOf, u64Of } from './read-json.ts';
import { readMeta, readRewards } from './read-ui-meta.ts';

const DEPTH_MAX = 64;

/** `undecodable` counts transactions that could not be decoded, such as those of an unknown version. */
export type DecodedBlock = Readonly<{ block: Block; undecodable: number }>;

type Members = Map<string, Buffer>;

function recordMember(
  { bytes, members }: { bytes: Buffer; members: Members },
  nameStart: number,
  nameEnd: number,
  from: number,
  to: number,
): void {
  members.set(bytes.toString('latin1', nameStart, nameEnd), bytes.subarray(from, to));
}

/** @throws MalformedJson */
export function readBlockhash(value: JsonValue | undefined): Blockhash {
  const parsed = parseBlockhash(stringOf(value, 'a blockhash'));
  if ('fault' in parsed) throw new MalformedJson('a blockhash');
  return parsed.blockhash;
}

function readExecuted(text: string): ExecutedTransaction | null {
  const { meta, transaction } = objectOf(parseJson(text), 'a transaction');
  const wire = Buffer.from(stringOf(listOf(transaction, 'a transaction')[0], 'a transaction'), 'base64');
  const decoded = decodeTransaction(wire);
  if ('fault' in decoded) return null;
  return { transaction: decoded.transaction, meta: readMeta(meta ?? null) };
}

function transactionSpans(bytes: Buffer): [from: number, to: number][] {
  const spans: [number, number][] = [];
  const end = scanArray(bytes, 0, DEPTH_MAX, spans, (list, from, to) => list.push([from, to]));
  if (end === MALFORMED) throw new MalformedJson('transactions');
  return spans;
}

/** Number of transactions decoded per step; a step takes about a millisecond. */
const TRANSACTIONS_AT_ONCE = 8;

/**
 * Inverse of `encodeBlock`. Decodes in steps, so that a large block does not block the event loop.
 * @throws MalformedJson, SyntaxError
 */
export function* readBlockSteps(bytes: Buffer, slot: Slot): Generator<void, DecodedBlock> {
  const members: Members = new Map();
  const end = scanObject(bytes, skipSpace(bytes, 0), DEPTH_MAX, { bytes, members }, recordMember);
  if (end === MALFORMED) throw new MalformedJson('a block');
  const list = members.get('transactions') ?? Buffer.alloc(0);
  const spans = transactionSpans(list);
  const transactions: ExecutedTransaction[] = [];
  yield;
  // One large integer makes parsing the whole text several times slower, so each transaction is parsed separately.
  for (const [at, [from, to]] of spans.entries()) {
    const executed = readExecuted(list.toString('utf8', from, to));
    if (executed !== null) transactions.push(executed);
    if (at % TRANSACTIONS_AT_ONCE === 0) yield;
  }
  return { block: blockOf(members, slot, transactions), undecodable: spans.length - transactions.length };
}

function blockOf(members: Members, slot: Slot, transactions: readonly ExecutedTransaction[]): Block {
  const member = (name: string): JsonValue | undefined => {
    const raw = members.get(name);
    return raw === undefined ? undefined : parseJson(raw.toString('utf8'));
  };
  const partitions = orNull(member('numRewardPartitions'), (count) => u64Of(count, 'numRewardPartitions'));
  return {
    slot,
    parentSlot: slotOf(u64Of(member('parentSlot'), 'a parentSlot')),
    blockhash: readBlockhash(member('blockhash')),
    previousBlockhash: readBlockhash(member('previousBlockhash')),
    blockHeight: orNull(member('blockHeight'), (height) => u64Of(height, 'a blockHeight')),
    blockTime: orNull(member('blockTime'), (time) => integerOf(time, 'a blockTime')),
    transactions,
    rewards: orNull(member('rewards'), readRewards) ?? [],
    ...(partitions !== null && { numRewardPartitions: partitions }),
  };
}
