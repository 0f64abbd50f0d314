import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import type { ExecutedInstruction } from '../executed-transaction.ts';

/** What stands before the bytes in base64 that a program logs by `sol_log_data`, as Anchor's `emit!` does. */
export const DATA_PREFIX = 'Program data: ';

/** A line that a program logged itself, with the instruction that logged it. */
export type ProgramLogLine = Readonly<{
  program: Address;
  /** `RunInstruction.index` */
  index: number;
  /** Instructions that had begun by then: it was told after them, and before the next. */
  startedInstructions: number;
  line: string;
}>;

/** Lines of programs, as told by the runtime around them. Source: Agave, `stable_log`. */
const INVOKED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d{1,3})\]$/;
const FINISHED = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) (?:success$|failed)/;
/** What a node says in place of all that comes after it. Source: Agave, `LogCollector`. */
const TRUNCATED = 'Log truncated';

/** Programs of the runtime itself, which verify signatures and log nothing, not even that they run. */
const mute: ReadonlySet<Address> = new Set([programs.ed25519, programs.secp256k1, programs.secp256r1]);

type Call = Readonly<{ program: string; index: number | null }>;

/**
 * Finds who logged each line: the calls that are open, in step with the instructions of the transaction. Where the
 * node keeps no inner instructions, what they logged counts as the outer one's.
 */
class LogParser {
  readonly #instructions: readonly ExecutedInstruction[];
  /** The place of the instruction that begins next. */
  #next = 0;
  readonly #open: Call[] = [];

  constructor(instructions: readonly ExecutedInstruction[]) {
    this.#instructions = instructions;
  }

  get startedInstructions(): number {
    return this.#next;
  }

  /** The call that logs now; null where it is of no instruction of the transaction. */
  get running(): Call | null {
    return this.#open.at(-1) ?? null;
  }

  enter(program: string, height: number): void {
    // A call that is deeper than the open ones allow, or less deep, says that lines are missing.
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

  /** Goes past inner instructions of which no line is there, and past mute ones, to the outer one that begins now. */
  #skipToOuter(program: string): void {
    const last = this.#instructions.length;
    const isOuter = (one: ExecutedInstruction): boolean => one.caller === null && !mute.has(one.program);
    let at = this.#next;
    while (at < last && !isOuter(this.#instructions[at] as ExecutedInstruction)) at++;
    if (this.#instructions[at]?.program === program) this.#next = at;
  }
}

/**
 * The lines that begin with one of `prefixes`, each with who logged it. A program cannot feign the lines of the
 * runtime: its own begin with `Program log:` or `Program data:`.
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
