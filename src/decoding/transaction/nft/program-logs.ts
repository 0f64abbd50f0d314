import type { ByteReader } from '../../../base/bytes.ts';
import { readOrNull } from '../../../solana/codec.ts';
import {
  DISCRIMINATOR_BYTES,
  eventDiscriminator,
  instructionDiscriminator,
  leadingHex,
} from '../events/layout.ts';
import { DATA_PREFIX, programLogLines } from '../events/read-events.ts';
import { oncePerTransaction } from '../once-per-transaction.ts';
import type { Call } from './instruction-layout.ts';

// The price paid appears in an instruction's logs or self-calls; the instruction itself contains only a limit.

const LOG_PREFIX = 'Program log: {';
const LINE_MAX = 1_000;

const loggedIn = oncePerTransaction(({ logs, instructions }) => {
  const logLines = programLogLines(logs, instructions, [DATA_PREFIX, LOG_PREFIX]);
  return Map.groupBy(logLines, ({ index }) => index);
});

export type LoggingCall = Pick<Call<never>, 'instruction' | 'transaction'>;

const linesOf = ({ instruction, transaction }: LoggingCall, prefix: string): string[] =>
  (loggedIn(transaction).get(instruction.index) ?? [])
    .filter(({ line }) => line.startsWith(prefix) && line.length <= LINE_MAX)
    .map(({ line }) => line.slice(prefix.length));

export function loggedEvent<T>(
  call: LoggingCall,
  name: string,
  read: (members: ByteReader) => T | null,
): T | null {
  const mark = eventDiscriminator(name);
  for (const line of linesOf(call, DATA_PREFIX)) {
    const bytes = Buffer.from(line, 'base64');
    if (leadingHex(bytes) === mark) return readOrNull(bytes.subarray(DISCRIMINATOR_BYTES), read);
  }
  return null;
}

export function loggedNumber(call: LoggingCall, name: string): bigint | null {
  const member = new RegExp(`"${name}":(\\d{1,20})[,}]`);
  for (const line of linesOf(call, LOG_PREFIX)) {
    const [, digits] = member.exec(line) ?? [];
    if (digits !== undefined) return BigInt(digits);
  }
  return null;
}

/** Reads the arguments of a no-op instruction such as `tcomp_noop`, which a program accepts only from itself. */
export function selfCall<T>(
  { instruction: { index, outer, program }, transaction: { instructions } }: LoggingCall,
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
