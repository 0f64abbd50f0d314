import type { Address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramEvent, Swap } from '../action.ts';
import { isEventCall } from '../events/read-events.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { netByBalances } from './balances.ts';
import { dexPrograms, swapInstructionOf } from './dex-programs.ts';
import { readQuote } from './jupiter-route.ts';
import { exchangeOf, type Movement, netOf } from './movements.ts';
import { readPoolLeg } from './pool-leg.ts';
import { readRouted } from './routed-swap.ts';
import { type Span, TransactionView } from './transaction-view.ts';

/** Whose instruction a swap is told as. */
const sourceInstruction = (
  view: TransactionView,
  at: number,
): Pick<Swap, 'index' | 'program' | 'parentProgram'> => {
  const { index, program, parentProgram } = view.instruction(at);
  return { index, program, parentProgram };
};

function swapOfPool(view: TransactionView, at: number, signers: ReadonlySet<Address>): Swap | null {
  const leg = readPoolLeg(view, at, signers);
  if (leg === null) return null;
  const { swap, trader: swapper } = leg;
  const sides = { swapper, in: swap.in, out: swap.out, pools: [swap] };
  return { ...sourceInstruction(view, at), ...sides, slippagePercent: null, quotedOut: null };
}

/** What is taken on the way is a fee up to this share of what goes on: a tenth. */
const FEE_DIVISOR = 10n;

/**
 * Swaps of one owner that follow one another in one instruction of a program that is not known, each with all that the
 * one before it gave, are a route. One that leaves the owner some of it, or takes more, is another swap: told as one,
 * the difference would be nowhere. One that comes back to where it began is none: its swaps are told one by one.
 * @param between - what moved after the first and before the next: a fee is what their amounts differ by.
 */
function joined(first: Swap, next: Swap, between: readonly Movement[]): Swap | null {
  const { mint, raw } = first.out;
  const follows = mint === next.in.mint && first.in.mint !== next.out.mint;
  if (!follows || first.swapper !== next.swapper) return null;
  const fee = raw - next.in.raw;
  const isFee = fee > 0n && fee <= raw / FEE_DIVISOR && netOf(between, first.swapper).get(mint) === -fee;
  return fee === 0n || isFee ? { ...first, out: next.out, pools: [...first.pools, ...next.pools] } : null;
}

/** Whether it is a program that calls others, and is not known. */
const isUnknown = (program: Address | null): boolean => program !== null && !dexPrograms.has(program);

/** Finds the swaps of a transaction, each in the first instruction of a known program that is all of it. */
class SwapSearch {
  readonly #view: TransactionView;
  readonly #signers: ReadonlySet<Address>;

  constructor(view: TransactionView) {
    this.#view = view;
    this.#signers = new Set(view.transaction.signers);
  }

  /** Swaps in a span of places, in order. */
  find({ at, end }: Span): Swap[] {
    const found: Swap[] = [];
    /** Where the last swap was found. */
    let last: Span | null = null;
    for (let next = at; next < end; ) {
      const swaps = this.#swapsAt(next);
      const span = swaps === null ? { at: next, end: next + 1 } : this.#view.span(next);
      for (const swap of swaps ?? []) {
        const route = last === null ? null : this.#joinedTo(found.at(-1), swap, { at: last.end, end: next });
        if (route !== null) found.pop();
        found.push(route ?? swap);
        last = span;
      }
      next = span.end;
    }
    return found;
  }

  /** One route of the last swap and the next; null where they are apart. @param between - their places. */
  #joinedTo(last: Swap | undefined, next: Swap, between: Span): Swap | null {
    const outerOf = (at: number): number => this.#view.instruction(at).outer;
    if (last === undefined || !isUnknown(next.parentProgram)) return null;
    if (outerOf(between.at - 1) !== outerOf(between.end)) return null;
    return joined(last, next, this.#view.movedIn(between));
  }

  /** The swaps that an instruction is; null where it is none, but what it calls may be. */
  #swapsAt(at: number): Swap[] | null {
    const instruction = this.#view.instruction(at);
    const dex = dexPrograms.get(instruction.program);
    if (dex === undefined) return null;
    if (dex.kind === 'wrapper') return this.#delegatedSwaps(at);
    if (dex.kind === 'pool') {
      const swap = swapOfPool(this.#view, at, this.#signers);
      return swap === null ? null : [swap];
    }
    const routed = readRouted(this.#view, at, dex);
    return routed === null ? null : [{ ...sourceInstruction(this.#view, at), ...routed }];
  }

  /** A wrapper's swap is the one that it hands on, told as the wrapper's. */
  #delegatedSwaps(at: number): Swap[] {
    const swaps = this.find({ at: at + 1, end: this.#view.span(at).end });
    const [only] = swaps;
    return only === undefined || swaps.length > 1
      ? swaps
      : [{ ...only, ...sourceInstruction(this.#view, at) }];
  }
}

/** Whether an instruction swaps by what its program's table says. */
function isSwap(view: TransactionView, at: number): boolean {
  const instruction = view.instruction(at);
  const dex = dexPrograms.get(instruction.program);
  if (dex === undefined || dex.kind === 'wrapper' || isEventCall(instruction)) return false;
  return swapInstructionOf(dex, instruction.data) !== null;
}

/** Where nothing beneath a swap's instruction says what moved, balances of who signed do. */
function swapByBalances(view: TransactionView): Swap[] {
  let at = 0;
  while (at < view.length && !isSwap(view, at)) at++;
  if (at === view.length) return [];
  const { program, data } = view.instruction(at);
  for (const swapper of view.transaction.signers) {
    const exchange = exchangeOf(netByBalances(view.transaction, view.movements, swapper));
    if (exchange === null) continue;
    const sides = { swapper, in: exchange.in, out: exchange.out, pools: [] };
    const quote = program === appPrograms.jupiterV6 ? readQuote(data) : null;
    const quoteFields = {
      slippagePercent: quote?.slippagePercent ?? null,
      quotedOut: quote?.quotedOut ?? null,
    };
    return [{ ...sourceInstruction(view, at), ...sides, ...quoteFields }];
  }
  return [];
}

/**
 * Finds the swaps that a transaction made: by what programs tell, else by what moved beneath the instructions of
 * pools and routers, else by how the signers' balances changed. Amounts are what left and what reached the swapper,
 * the swap's own fees included, commissions and tips beside it left out. Never a guess: what is not one mint for one
 * other is no swap. Never throws; takes time in proportion to the transaction.
 * @param events - from `readEvents`.
 * @returns none for a transaction that failed.
 */
export function recognizeSwaps(transaction: ExecutedTransaction, events: readonly ProgramEvent[]): Swap[] {
  if (transaction.err !== null) return [];
  const view = new TransactionView(transaction, events);
  const swaps = new SwapSearch(view).find({ at: 0, end: view.length });
  return swaps.length > 0 ? swaps : swapByBalances(view);
}
