import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramEvent } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { eventTables } from './event-tables.ts';
import { DISCRIMINATOR_BYTES, EVENT_CALL, leadingHex, readLayout } from './layout.ts';
import { DATA_PREFIX, type ProgramLogLine, programLogLines } from './log-lines.ts';
import { RAY_LOG_PREFIX, readRayLog } from './ray-log.ts';

type EventLimits = Readonly<{
  /** Characters of base64 per line. */
  lineMax: number;
}>;

/** Fixed: the runtime keeps at most 10,000 bytes of logs. Source: Agave, `LOG_MESSAGES_BYTES_LIMIT`. */
export const eventLimits: EventLimits = { lineMax: 16_384 };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Instructions have positions from 1; log lines stand between them. */
type PositionedEvent = Readonly<{ position: number; event: ProgramEvent }>;

function readAnchor(
  program: Address,
  bytes: Uint8Array,
): { name: string; data: Record<string, WritableJson> } | null {
  const layout = eventTables.get(program)?.get(leadingHex(bytes));
  const data = layout === undefined ? null : readLayout(bytes.subarray(DISCRIMINATOR_BYTES), layout);
  return layout === undefined || data === null ? null : { name: layout.name, data };
}

export const isEventCall = ({ data, caller }: ExecutedInstruction): boolean =>
  caller !== null && leadingHex(data) === EVENT_CALL;

/**
 * Events in inner instructions. Programs accept these only from themselves (the event authority signs).
 * @param emittedCounts - counts events by their bytes, to skip copies in the logs.
 */
function calledEvents(
  transaction: ExecutedTransaction,
  emittedCounts: Map<string, number>,
): PositionedEvent[] {
  const positioned: PositionedEvent[] = [];
  for (const [at, instruction] of transaction.instructions.entries()) {
    if (!eventTables.has(instruction.program) || !isEventCall(instruction)) continue;
    const { program, index } = instruction;
    const bytes = instruction.data.subarray(DISCRIMINATOR_BYTES);
    const read = readAnchor(program, bytes);
    if (read === null) continue;
    const copy = `${program} ${Buffer.from(bytes).toString('base64')}`;
    emittedCounts.set(copy, (emittedCounts.get(copy) ?? 0) + 1);
    positioned.push({ position: at + 1, event: { program, ...read, index } });
  }
  return positioned;
}

function decodeLine(text: string): Uint8Array | null {
  return text.length > eventLimits.lineMax || !BASE64.test(text) ? null : Buffer.from(text, 'base64');
}

function readLine({
  program,
  line,
}: ProgramLogLine): { name: string; data: Record<string, WritableJson> } | null {
  const ownLog = line.startsWith(RAY_LOG_PREFIX);
  if (ownLog !== (program === appPrograms.raydiumV4)) return null;
  const bytes = decodeLine(line.slice(ownLog ? RAY_LOG_PREFIX.length : DATA_PREFIX.length));
  if (bytes === null) return null;
  return ownLog ? readRayLog(bytes) : readAnchor(program, bytes);
}

function loggedEvents(
  transaction: ExecutedTransaction,
  emittedCounts: Map<string, number>,
): PositionedEvent[] {
  const { logs, instructions } = transaction;
  const positioned: PositionedEvent[] = [];
  for (const logLine of programLogLines(logs, instructions, [DATA_PREFIX, RAY_LOG_PREFIX])) {
    const { program, index, startedInstructions } = logLine;
    const copy = `${program} ${logLine.line.slice(DATA_PREFIX.length)}`;
    const remaining = emittedCounts.get(copy) ?? 0;
    if (remaining > 0) emittedCounts.set(copy, remaining - 1);
    const read = remaining > 0 ? null : readLine(logLine);
    if (read !== null)
      positioned.push({ position: startedInstructions + 0.5, event: { program, ...read, index } });
  }
  return positioned;
}

/**
 * Events in emission order, from inner instructions (`emit_cpi!`), logs (`emit!`) and program logs. Unknown
 * events are left out. Never throws; linear time.
 * @returns none for a failed transaction.
 */
export function readEvents(transaction: ExecutedTransaction): ProgramEvent[] {
  if (transaction.err !== null) return [];
  const emittedCounts = new Map<string, number>();
  const called = calledEvents(transaction, emittedCounts);
  const positioned = [...called, ...loggedEvents(transaction, emittedCounts)];
  return positioned.sort((one, other) => one.position - other.position).map(({ event }) => event);
}
