import type { Address } from '../../../solana/address.ts';
import { isTokenProgram, programs } from '../../../solana/programs.ts';
import type { ProgramEvent } from '../action.ts';
import { isEventCall } from '../events/read-events.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { type Movement, readMovements, unexplainedLamports } from './movements.ts';

export type Span = Readonly<{ at: number; end: number }>;

const supportPrograms: ReadonlySet<Address> = new Set([
  ...[programs.system, programs.ata, programs.memoV1, programs.memoV3, programs.memoV4],
]);

/** True for transfers, account creation, memos and events. */
export const isSupportInstruction = (instruction: ExecutedInstruction): boolean =>
  isTokenProgram(instruction.program) || supportPrograms.has(instruction.program) || isEventCall(instruction);

/** Limits the nesting depth, to bound the running time. */
const DEPTH_MAX = 16;

function endsOf(instructions: readonly ExecutedInstruction[]): Int32Array {
  // If depths are not reported, support instructions count as called by the last inner non-support instruction.
  let served = false;
  const depths = instructions.map((instruction) => {
    if (instruction.caller === null) {
      served = false;
      return 1;
    }
    if (instruction.height !== null) return Math.min(instruction.height, DEPTH_MAX);
    if (!isSupportInstruction(instruction)) served = true;
    return isSupportInstruction(instruction) && served ? 3 : 2;
  });
  const ends = new Int32Array(instructions.length).fill(instructions.length);
  const open: number[] = [];
  for (const [at, depth] of depths.entries()) {
    while (open.length > 0 && (depths[open.at(-1) as number] as number) >= depth)
      ends[open.pop() as number] = at;
    open.push(at);
  }
  return ends;
}

export class TransactionView {
  readonly transaction: ExecutedTransaction;
  readonly movements: readonly Movement[];
  readonly #ends: Int32Array;
  readonly #movedBefore: Int32Array;
  readonly #eventsByInstruction: ReadonlyMap<number, readonly ProgramEvent[]>;
  #unexplained: ReadonlyMap<Address, bigint> | null = null;

  constructor(transaction: ExecutedTransaction, events: readonly ProgramEvent[]) {
    this.transaction = transaction;
    this.movements = readMovements(transaction);
    this.#ends = endsOf(transaction.instructions);
    this.#movedBefore = this.#countMovements();
    this.#eventsByInstruction = Map.groupBy(events, ({ index }) => index);
  }

  #countMovements(): Int32Array {
    const before = new Int32Array(this.transaction.instructions.length + 1);
    for (const { at } of this.movements) before[at + 1] = (before[at + 1] as number) + 1;
    for (let at = 1; at < before.length; at++)
      before[at] = (before[at] as number) + (before[at - 1] as number);
    return before;
  }

  get length(): number {
    return this.transaction.instructions.length;
  }

  instruction(at: number): ExecutedInstruction {
    return this.transaction.instructions[at] as ExecutedInstruction;
  }

  span(at: number): Span {
    return { at, end: this.#ends[at] as number };
  }

  movedIn({ at, end }: Span): readonly Movement[] {
    return this.movements.slice(this.#movedBefore[at], this.#movedBefore[end]);
  }

  unexplainedLamports(owner: Address): bigint {
    this.#unexplained ??= unexplainedLamports(this.transaction, this.movements);
    return this.#unexplained.get(owner) ?? 0n;
  }

  *calls({ at, end }: Span): Iterable<number> {
    for (let inner = at + 1; inner < end; inner = this.span(inner).end) yield inner;
  }

  *eventsIn({ at, end }: Span, program: Address): Iterable<ProgramEvent & { at: number }> {
    for (let inner = at; inner < end; inner++) {
      for (const event of this.#eventsByInstruction.get(this.instruction(inner).index) ?? []) {
        if (event.program === program) yield { ...event, at: inner };
      }
    }
  }
}
