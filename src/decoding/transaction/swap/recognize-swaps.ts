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

/** An intermediate fee is at most a tenth of the amount. */
const FEE_DIVISOR = 10n;

/**
 * Joins consecutive swaps of one owner, inside one instruction of an unknown program, into a route when the
 * second takes all that the first gave, less a fee. Swaps that leave a remainder or return to the first mint
 * stay separate.
 * @param between - movements between the two, which must account for the fee.
 */
function joinSwaps(first: Swap, next: Swap, between: readonly Movement[]): Swap | null {
  const { mint, raw } = first.out;
  const follows = mint === next.in.mint && first.in.mint !== next.out.mint;
  if (!follows || first.swapper !== next.swapper) return null;
  const fee = raw - next.in.raw;
  const isFee = fee > 0n && fee <= raw / FEE_DIVISOR && netOf(between, first.swapper).get(mint) === -fee;
  return fee === 0n || isFee ? { ...first, out: next.out, pools: [...first.pools, ...next.pools] } : null;
}

const isUnknown = (program: Address | null): boolean => program !== null && !dexPrograms.has(program);

/** Finds swaps, each at the outermost known instruction that contains it. */
class SwapSearch {
  readonly #view: TransactionView;
  readonly #signers: ReadonlySet<Address>;

  constructor(view: TransactionView) {
    this.#view = view;
    this.#signers = new Set(view.transaction.signers);
  }

  find({ at, end }: Span): Swap[] {
    const found: Swap[] = [];
    /** Span of the last swap. */
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

  #joinedTo(last: Swap | undefined, next: Swap, between: Span): Swap | null {
    const outerOf = (at: number): number => this.#view.instruction(at).outer;
    if (last === undefined || !isUnknown(next.parentProgram)) return null;
    if (outerOf(between.at - 1) !== outerOf(between.end)) return null;
    return joinSwaps(last, next, this.#view.movedIn(between));
  }

  /** Swaps of an instruction; null when its inner instructions have to be searched. */
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

  /** A single forwarded swap is reported as the wrapper's. */
  #delegatedSwaps(at: number): Swap[] {
    const swaps = this.find({ at: at + 1, end: this.#view.span(at).end });
    const [only] = swaps;
    return only === undefined || swaps.length > 1
      ? swaps
      : [{ ...only, ...sourceInstruction(this.#view, at) }];
  }
}

function isSwap(view: TransactionView, at: number): boolean {
  const instruction = view.instruction(at);
  const dex = dexPrograms.get(instruction.program);
  if (dex === undefined || dex.kind === 'wrapper' || isEventCall(instruction)) return false;
  return swapInstructionOf(dex, instruction.data) !== null;
}

/** Fallback for missing movements: balance changes of the signers. */
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
 * Recognizes swaps from events, else from movements below pool and router instructions, else from signer
 * balances. Amounts are what left and reached the swapper, with swap fees and without separate commissions
 * and tips. Only exchanges of one mint for one other count. Never throws; linear time.
 * @param events - from `readEvents`.
 * @returns none for a failed transaction.
 */
export function recognizeSwaps(transaction: ExecutedTransaction, events: readonly ProgramEvent[]): Swap[] {
  if (transaction.err !== null) return [];
  const view = new TransactionView(transaction, events);
  const swaps = new SwapSearch(view).find({ at: 0, end: view.length });
  return swaps.length > 0 ? swaps : swapByBalances(view);
}
