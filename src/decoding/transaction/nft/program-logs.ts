import { type ByteReader, readOrNull } from '../../../base/bytes.ts';
import {
  DISCRIMINATOR_BYTES,
  eventDiscriminator,
  instructionDiscriminator,
  leadingHex,
} from '../events/layout.ts';
import { DATA_PREFIX, programLogLines } from '../events/log-lines.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';

/**
 * What a program tells of an instruction while it runs: the price at which a pool sells is in no instruction, whose
 * amount is only the most or the least that its sender would take.
 */

const LOG_PREFIX = 'Program log: {';
/** A log line of a price; the runtime keeps 10,000 bytes of all of them. */
const LINE_MAX = 1_000;

const cache = new WeakMap<ExecutedTransaction, ReadonlyMap<number, readonly string[]>>();

/** What each instruction logged of these forms, by its `index`; found once for a transaction. */
function loggedIn(transaction: ExecutedTransaction): ReadonlyMap<number, readonly string[]> {
  const before = cache.get(transaction);
  if (before !== undefined) return before;
  const { logs, instructions } = transaction;
  const logLines = programLogLines(logs, instructions, [DATA_PREFIX, LOG_PREFIX]);
  const lines = Map.groupBy(logLines, ({ index }) => index);
  const found = new Map([...lines].map(([index, of]) => [index, of.map(({ line }) => line)]));
  cache.set(transaction, found);
  return found;
}

const linesOf = (
  { index }: ExecutedInstruction,
  transaction: ExecutedTransaction,
  prefix: string,
): string[] =>
  (loggedIn(transaction).get(index) ?? [])
    .filter((line) => line.startsWith(prefix) && line.length <= LINE_MAX)
    .map((line) => line.slice(prefix.length));

/**
 * An event that the program logged by Anchor's `emit!`.
 * @param name - as the program has it, `BuySellEvent`.
 */
export function loggedEvent<T>(
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
  name: string,
  read: (members: ByteReader) => T | null,
): T | null {
  const mark = eventDiscriminator(name);
  for (const line of linesOf(instruction, transaction, DATA_PREFIX)) {
    const bytes = Buffer.from(line, 'base64');
    if (leadingHex(bytes) === mark) return readOrNull(bytes.subarray(DISCRIMINATOR_BYTES), read);
  }
  return null;
}

/** A number in the JSON that the program logged, by its name. */
export function loggedNumber(
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
  name: string,
): bigint | null {
  const member = new RegExp(`"${name}":(\\d{1,20})[,}]`);
  for (const line of linesOf(instruction, transaction, LOG_PREFIX)) {
    const [, digits] = member.exec(line) ?? [];
    if (digits !== undefined) return BigInt(digits);
  }
  return null;
}

/**
 * What the program called itself with, to leave it in the transaction. It takes such a call from itself alone.
 * @param name - of the instruction that does nothing, `tcomp_noop`.
 */
export function selfCall<T>(
  { index, outer, program }: ExecutedInstruction,
  { instructions }: ExecutedTransaction,
  name: string,
  read: (args: ByteReader) => T | null,
): T | null {
  const mark = instructionDiscriminator(name);
  for (const one of instructions) {
    if (one.outer !== outer || one.index <= index || one.program !== program) continue;
    const isMark = leadingHex(one.data) === mark;
    if (one.height !== null && one.caller !== index) continue;
    if (isMark) return readOrNull(one.data.subarray(DISCRIMINATOR_BYTES), read);
    if (one.height === null) return null;
  }
  return null;
}
