import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import type { ExecutedInstruction } from '../executed-transaction.ts';

/** Prefix of base64 data logged by `sol_log_data`, which Anchor's `emit!` uses. */
export const DATA_PREFIX = 'Program data: ';

export type ProgramLogLine = Readonly<{
  program: Address;
  /** `ExecutedInstruction.index` */
  index: number;
  startedInstructions: number;
  line: string;
}>;

/** Source: Agave, `stable_log`. */
const INVOKED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d{1,3})\]$/;
const FINISHED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) (?:success$|failed)/;
/** Replaces all later lines. Source: Agave, `LogCollector`. */
const TRUNCATED = 'Log truncated';

/** Precompiles, which log nothing, not even their invocation. */
const programsWithoutLogs: ReadonlySet<Address> = new Set([
  programs.ed25519,
  programs.secp256k1,
  programs.secp256r1,
]);

type Call = Readonly<{ program: string; index: number | null }>;

/**
 * Attributes log lines to instructions by following the call stack. Without recorded inner instructions,
 * lines count for the outer one.
 */
class LogParser {
  readonly #instructions: readonly ExecutedInstruction[];
  #next = 0;
  readonly #open: Call[] = [];

  constructor(instructions: readonly ExecutedInstruction[]) {
    this.#instructions = instructions;
  }

  get startedInstructions(): number {
    return this.#next;
  }

  get running(): Call | null {
    return this.#open.at(-1) ?? null;
  }

  enter(program: string, height: number): void {
    // A height that the stack does not allow means missing lines.
    if (height <= this.#open.length) this.#open.length = Math.max(0, height - 1);
    if (height === 1) this.#skipToOuter(program);
    const instruction = this.#instructions[this.#next];
    const found = instruction?.program === program && (instruction.height ?? height) === height;
    if (found) this.#next++;
    this.#open.push({ program, index: found ? instruction.index : (this.running?.index ?? null) });
  }

  exit(program: string): void {
    if (this.running?.program === program) this.#open.pop();
  }

  /** Skips instructions without log lines up to the next outer one. */
  #skipToOuter(program: string): void {
    const last = this.#instructions.length;
    const isOuter = (one: ExecutedInstruction): boolean =>
      one.caller === null && !programsWithoutLogs.has(one.program);
    let at = this.#next;
    while (at < last && !isOuter(this.#instructions[at] as ExecutedInstruction)) at++;
    if (this.#instructions[at]?.program === program) this.#next = at;
  }
}

/**
 * Log lines that start with one of `prefixes`, with their instruction. Programs cannot forge runtime lines:
 * theirs start with `Program log:` or `Program data:`.
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
