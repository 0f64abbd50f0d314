import { type JsonValue, parseJson } from '../../base/json.ts';
import { MALFORMED, scanArray, scanObject, skipSpace } from '../../base/json-scan.ts';
import type { Block, ExecutedTransaction } from '../block.ts';
import { type Blockhash, parseBlockhash } from '../blockhash.ts';
import { decodeTransaction } from '../transaction/decode-transaction.ts';
import { type Slot, slot as slotOf } from '../units.ts';
import { integerOf, listOf, MalformedJson, objectOf, orNull, stringOf, u64Of } from './read-json.ts';
import { readMeta, readRewards } from './read-ui-meta.ts';

/** Deeper than any block nests. */
const DEPTH_MAX = 64;

/** A block as it was read, and how many of its transactions have a version that cannot be decoded here. */
export type BlockRead = Readonly<{ block: Block; undecodable: number }>;

type Members = Map<string, Buffer>;

function noteMember(
  { bytes, members }: { bytes: Buffer; members: Members },
  nameStart: number,
  nameEnd: number,
  from: number,
  to: number,
): void {
  members.set(bytes.toString('latin1', nameStart, nameEnd), bytes.subarray(from, to));
}

function membersOf(bytes: Buffer): Members {
  const members: Members = new Map();
  const end = scanObject(bytes, skipSpace(bytes, 0), DEPTH_MAX, { bytes, members }, noteMember);
  if (end === MALFORMED) throw new MalformedJson('a block');
  return members;
}

function readBlockhash(value: JsonValue | undefined): Blockhash {
  const parsed = parseBlockhash(stringOf(value, 'a blockhash'));
  if ('fault' in parsed) throw new MalformedJson('a blockhash');
  return parsed.blockhash;
}

/** null for a version that is younger than this program. */
function readExecuted(text: string): ExecutedTransaction | null {
  const { meta, transaction } = objectOf(parseJson(text), 'a transaction');
  const wire = Buffer.from(stringOf(listOf(transaction, 'a transaction')[0], 'a transaction'), 'base64');
  const decoded = decodeTransaction(wire);
  if ('fault' in decoded) return null;
  return { transaction: decoded.transaction, meta: readMeta(meta ?? null) };
}

/**
 * Transaction by transaction, because numbers are parsed exactly at several times the cost where a text has long
 * ones, and few transactions do.
 */
function readTransactions(bytes: Buffer): (ExecutedTransaction | null)[] {
  const read: (ExecutedTransaction | null)[] = [];
  const end = scanArray(bytes, 0, DEPTH_MAX, read, (list, from, to) => {
    list.push(readExecuted(bytes.toString('utf8', from, to)));
  });
  if (end === MALFORMED) throw new MalformedJson('transactions');
  return read;
}

/**
 * Reads the result of getBlock with encoding `base64` and details `full`: the inverse of `encodeBlock`.
 * @param bytes - raw JSON.
 * @param slot - that was asked for: the answer does not tell it.
 * @throws MalformedJson, or SyntaxError, when it is something else.
 */
export function readBlock(bytes: Buffer, slot: Slot): BlockRead {
  const members = membersOf(bytes);
  const member = (name: string): JsonValue | undefined => {
    const raw = members.get(name);
    return raw === undefined ? undefined : parseJson(raw.toString('utf8'));
  };
  const all = readTransactions(members.get('transactions') ?? Buffer.alloc(0));
  const transactions = all.filter((one) => one !== null);
  const partitions = orNull(member('numRewardPartitions'), (count) => u64Of(count, 'numRewardPartitions'));
  const block: Block = {
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
  return { block, undecodable: all.length - transactions.length };
}
