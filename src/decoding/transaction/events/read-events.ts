import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramEvent } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { eventTables } from './event-tables.ts';
import {
  DISCRIMINATOR_BYTES,
  EVENT_CALL,
  type EventLayout,
  leadingHex,
  parseLayouts,
  readLayout,
} from './layout.ts';

/** Source: raydium-io/raydium-amm, program/src/log.rs. */
const RAY_LOG_PREFIX = 'Program log: ray_log: ';

export const rayLogLayouts: readonly EventLayout[] = parseLayouts(`
  InitLog: log_type u8, time u64, pc_decimals coin_decimals u8, pc_lot_size coin_lot_size pc_amount
    coin_amount u64, market pubkey;
  DepositLog: log_type u8, max_coin max_pc base pool_coin pool_pc pool_lp u64, calc_pnl_x calc_pnl_y u128,
    deduct_coin deduct_pc mint_lp u64;
  WithdrawLog: log_type u8, withdraw_lp user_lp pool_coin pool_pc pool_lp u64, calc_pnl_x calc_pnl_y u128,
    out_coin out_pc u64;
  SwapBaseInLog: log_type u8, amount_in minimum_out direction user_source pool_coin pool_pc out_amount u64;
  SwapBaseOutLog: log_type u8, max_in amount_out direction user_source pool_coin pool_pc deduct_in u64;
`);

type DecodedEvent = Pick<ProgramEvent, 'name' | 'data'>;

function decodeEvent(layout: EventLayout | undefined, bytes: Uint8Array): DecodedEvent | null {
  const data = layout === undefined ? null : readLayout(bytes, layout);
  return layout === undefined || data === null ? null : { name: layout.name, data };
}

/** The first byte, `log_type`, is the index of the layout. */
const readRayLog = (bytes: Uint8Array): DecodedEvent | null =>
  decodeEvent(rayLogLayouts[bytes[0] ?? rayLogLayouts.length], bytes);

/** Prefix of log lines with base64 data from `sol_log_data`, which Anchor's `emit!` uses. */
export const DATA_PREFIX = 'Program data: ';

type ProgramLogLine = Readonly<{
  program: Address;
  index: number;
  /** Number of instructions that started before the line. */
  startedInstructions: number;
  line: string;
}>;

/** Source: Agave, `stable_log`. */
const INVOKED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d{1,3})\]$/;
const FINISHED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) (?:success$|failed)/;
/** This line replaces all later lines. Source: Agave, `LogCollector`. */
const TRUNCATED = 'Log truncated';

/** Precompiles, which log nothing, not even their invocation. */
const programsWithoutLogs: ReadonlySet<Address> = new Set([
  programs.ed25519,
  programs.secp256k1,
  programs.secp256r1,
]);

type Call = Readonly<{ program: string; index: number | null }>;

/** Follows the call stack. If inner instructions are not recorded, assigns their lines to the outer instruction. */
class LogParser {
  readonly #instructions: readonly ExecutedInstruction[];
  startedInstructions = 0;
  readonly #open: Call[] = [];

  constructor(instructions: readonly ExecutedInstruction[]) {
    this.#instructions = instructions;
  }

  get running(): Call | null {
    return this.#open.at(-1) ?? null;
  }

  enter(program: string, height: number): void {
    // A height within the open stack means that exit lines are missing.
    if (height <= this.#open.length) this.#open.length = Math.max(0, height - 1);
    if (height === 1) {
      const last = this.#instructions.length;
      const isOuter = (one: ExecutedInstruction): boolean =>
        one.caller === null && !programsWithoutLogs.has(one.program);
      let at = this.startedInstructions;
      while (at < last && !isOuter(this.#instructions[at] as ExecutedInstruction)) at++;
      if (this.#instructions[at]?.program === program) this.startedInstructions = at;
    }
    const instruction = this.#instructions[this.startedInstructions];
    const isExpected = instruction?.program === program && (instruction.height ?? height) === height;
    if (isExpected) this.startedInstructions++;
    this.#open.push({ program, index: isExpected ? instruction.index : (this.running?.index ?? null) });
  }

  exit(program: string): void {
    if (this.running?.program === program) this.#open.pop();
  }
}

/**
 * Finds log lines with one of the prefixes, and the instruction that wrote each. Programs cannot forge the runtime's
 * lines, because their own output starts with `Program log:` or `Program data:`.
 */
export function programLogLines(
  logs: readonly string[],
  instructions: readonly ExecutedInstruction[],
  prefixes: readonly string[],
): ProgramLogLine[] {
  const parser = new LogParser(instructions);
  const logLines: ProgramLogLine[] = [];
  for (const line of logs) {
    if (line === TRUNCATED) break;
    const running = parser.running;
    if (prefixes.some((prefix) => line.startsWith(prefix))) {
      if (running === null || running.index === null) continue;
      const { program, index } = running;
      logLines.push({
        program: program as Address,
        index,
        startedInstructions: parser.startedInstructions,
        line,
      });
      continue;
    }
    const [, invoked, height] = INVOKED.exec(line) ?? [];
    if (invoked !== undefined) parser.enter(invoked, Number(height));
    const [, finished] = FINISHED.exec(line) ?? [];
    if (finished !== undefined) parser.exit(finished);
  }
  return logLines;
}

export const eventLimits = {
  /** Maximum base64 characters per line, above the 10,000 log bytes that Agave's `LOG_MESSAGES_BYTES_LIMIT` allows. */
  lineMax: 16_384,
};

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Position in emission order: n for the nth instruction, counted from 1; n + 0.5 for lines logged after its start. */
type PositionedEvent = Readonly<{ position: number; event: ProgramEvent }>;

const readAnchor = (program: Address, bytes: Uint8Array): DecodedEvent | null =>
  decodeEvent(eventTables.get(program)?.get(leadingHex(bytes)), bytes.subarray(DISCRIMINATOR_BYTES));

export const isEventCall = ({ data, caller }: ExecutedInstruction): boolean =>
  caller !== null && leadingHex(data) === EVENT_CALL;

/**
 * Events from `emit_cpi!`: a program calls itself and its event authority signs, so that other programs cannot forge
 * events. @param emittedCounts - receives event counts by program and event bytes, to skip their copies in the logs.
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
    const decoded = readAnchor(program, bytes);
    if (decoded === null) continue;
    const eventKey = `${program} ${Buffer.from(bytes).toString('base64')}`;
    emittedCounts.set(eventKey, (emittedCounts.get(eventKey) ?? 0) + 1);
    positioned.push({ position: at + 1, event: { program, ...decoded, index } });
  }
  return positioned;
}

function decodeLine(text: string): Uint8Array | null {
  return text.length > eventLimits.lineMax || !BASE64.test(text) ? null : Buffer.from(text, 'base64');
}

function readLine({ program, line }: ProgramLogLine): DecodedEvent | null {
  const isRayLog = line.startsWith(RAY_LOG_PREFIX);
  // Only Raydium v4 logs ray_log lines, and it logs no other events.
  if (isRayLog !== (program === appPrograms.raydiumV4)) return null;
  const bytes = decodeLine(line.slice(isRayLog ? RAY_LOG_PREFIX.length : DATA_PREFIX.length));
  if (bytes === null) return null;
  return isRayLog ? readRayLog(bytes) : readAnchor(program, bytes);
}

function loggedEvents(
  transaction: ExecutedTransaction,
  emittedCounts: Map<string, number>,
): PositionedEvent[] {
  const { logs, instructions } = transaction;
  const positioned: PositionedEvent[] = [];
  for (const logLine of programLogLines(logs, instructions, [DATA_PREFIX, RAY_LOG_PREFIX])) {
    const { program, index, startedInstructions } = logLine;
    const eventKey = `${program} ${logLine.line.slice(DATA_PREFIX.length)}`;
    const remaining = emittedCounts.get(eventKey) ?? 0;
    if (remaining > 0) emittedCounts.set(eventKey, remaining - 1);
    const decoded = remaining > 0 ? null : readLine(logLine);
    if (decoded !== null)
      positioned.push({ position: startedInstructions + 0.5, event: { program, ...decoded, index } });
  }
  return positioned;
}

/** Known events in emission order; empty for a failed transaction. Never throws. */
export function readEvents(transaction: ExecutedTransaction): ProgramEvent[] {
  if (transaction.err !== null) return [];
  const emittedCounts = new Map<string, number>();
  const called = calledEvents(transaction, emittedCounts);
  const positioned = [...called, ...loggedEvents(transaction, emittedCounts)];
  return positioned.sort((one, other) => one.position - other.position).map(({ event }) => event);
}
