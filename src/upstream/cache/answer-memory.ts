import { WeightedLru } from '../../base/weighted-lru.ts';
import type { Slot } from '../../ledger/units.ts';
import type { Answer, Call, Network } from '../../protocol/call.ts';
import type { Begun, SharedCallHearer } from '../coalesce/shared-calls.ts';
import { type KnownSlots, nothingKnown } from '../known-slots.ts';
import { toldSlot } from '../slots/told-slot.ts';
import type { CallKey } from './call-key.ts';
import { FinalizedRoots } from './finalized-roots.ts';
import { type KeepTimes, keepTimeOf, keepTimes } from './keep-time.ts';

export type MemoryLimits = Readonly<{
  entriesMax: number;
  /** Of all that is kept, an estimate. */
  maxBytes: number;
  /** The longest answer that is kept. */
  answerMaxBytes: number;
}>;

export const memoryLimits: MemoryLimits = {
  entriesMax: 65_536,
  maxBytes: 128 * 1024 * 1024,
  answerMaxBytes: 1024 * 1024,
};

export type AnswerMemoryOptions = Readonly<{
  slots?: KnownSlots;
  limits?: Partial<MemoryLimits>;
  times?: Partial<KeepTimes>;
  /** Milliseconds, of a clock that never goes back. */
  now?: () => number;
}>;

/** An answer that is kept. */
type Kept = Readonly<{
  answer: Answer;
  /** Which of the chains that its network has been since the start it is of. */
  chain: number;
  weight: number;
  expiresAt: number;
  /** What the answer says that it is of; null when it says nothing. */
  told: Slot | null;
  /** The newest slot that the chain is known to have had when it was true; null: it holds for its time. */
  slot: Slot | null;
}>;

/** What an entry takes beside its key and its answer; an estimate. */
const ENTRY_BYTES = 400;
/** Memory beside an answer's own that may be held with it. */
const SPARE_MAX_BYTES = 1_024;

/** Entries that are looked at with each that is kept: what is over, and nobody asks for again, makes room so. */
const SWEPT_AT_A_TIME = 2;

const newer = (a: Slot | null, b: Slot | null): Slot | null => (a === null || (b !== null && b > a) ? b : a);

/** The answer in memory of its own: what came may be a view into far more. */
function compact(answer: Answer): Answer {
  const { body, errorCode } = answer;
  if (body.buffer.byteLength - body.length <= SPARE_MAX_BYTES) return answer;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return { body: own, errorCode };
}

/** Answers that hold for a while, in memory that is bounded. */
export class AnswerMemory implements SharedCallHearer {
  /** For others that decide what is final. */
  readonly roots: FinalizedRoots;
  readonly #limits: MemoryLimits;
  readonly #times: KeepTimes;
  readonly #slots: KnownSlots;
  readonly #now: () => number;
  readonly #kept: WeightedLru<string, Kept>;
  /** How often networks began anew. What is of a chain before is forgotten when it is looked for, or makes room. */
  readonly #chains = new Map<Network, number>();

  constructor({ slots = nothingKnown, limits, times, now }: AnswerMemoryOptions = {}) {
    this.#limits = { ...memoryLimits, ...limits };
    this.#times = { ...keepTimes, ...times };
    this.#slots = slots;
    this.#now = now ?? (() => performance.now());
    this.#kept = new WeightedLru(this.#limits.entriesMax, this.#limits.maxBytes);
    this.roots = new FinalizedRoots(slots, (network) => this.#beginAnew(network));
  }

  get entries(): number {
    return this.#kept.size;
  }

  get bytes(): number {
    return this.#kept.weight;
  }

  /** Answers that were forgotten to make room. */
  get evictions(): number {
    return this.#kept.evictions;
  }

  /** What holds now for whoever asks; null: nothing does. */
  find(call: Call, key: CallKey): Answer | null {
    // Notices a chain that has begun anew.
    if (key.rule.keep !== 'slot') this.roots.rootOf(call.network);
    const kept = this.#kept.get(key.text);
    if (kept === undefined) return null;
    if (!this.#holds(kept, call, key)) {
      this.#kept.delete(key.text);
      return null;
    }
    return isBelowFloor(kept, call, key) ? null : kept.answer;
  }

  slotFor({ network }: Call, { rule, commitment }: CallKey): Slot | null {
    if (rule.keep !== 'slot' || commitment === null) return null;
    return this.#slots.slotAt(network, commitment)?.slot ?? null;
  }

  answered({ call, key, startedAt, slot }: Begun, answer: Answer): void {
    if (key.rule.keep === 'never') return;
    const tellsRoot = key.commitment === 'finalized' && key.isPlain;
    const isKept = answer.body.length <= this.#limits.answerMaxBytes && !isRare(key);
    if (!tellsRoot && !isKept) return;
    const told = answer.errorCode === 0 ? toldSlot(call.row, answer.body) : null;
    if (told !== null && tellsRoot) this.roots.answered(call.network, told);
    if (!isKept) return;
    const root = key.rule.keep === 'final' ? this.roots.rootOf(call.network) : null;
    const expiresAt = startedAt + keepTimeOf(key, answer, root, this.#times);
    if (expiresAt <= this.#now()) return;
    this.#kept.set(key.text, {
      answer: compact(answer),
      chain: this.#chainOf(call.network),
      weight: ENTRY_BYTES + key.text.length + answer.body.length,
      expiresAt,
      told,
      // What says nothing of its slot may be of the newest: only time tells that it is over, or each look at the nodes
      // would have it asked for anew within its slot.
      slot: told === null ? null : newer(slot, told),
    });
    this.#kept.sweep(SWEPT_AT_A_TIME, this.#isOver);
  }

  readonly #isOver = ({ expiresAt }: Kept): boolean => expiresAt <= this.#now();

  /** Which of the chains that the network has been it is now. */
  #chainOf(network: Network): number {
    return this.#chains.get(network) ?? 0;
  }

  #beginAnew(network: Network): void {
    this.#chains.set(network, this.#chainOf(network) + 1);
  }

  #holds(kept: Kept, { network }: Call, { rule, commitment }: CallKey): boolean {
    if (kept.expiresAt <= this.#now() || kept.chain !== this.#chainOf(network)) return false;
    if (rule.keep !== 'slot' || kept.slot === null || commitment === null) return true;
    const known = this.#slots.slotAt(network, commitment);
    return known === null || known.slot <= kept.slot;
  }
}

/** The state of an account that nobody asked for lately is over before anybody asks for it again. */
const isRare = ({ rule, looks }: CallKey): boolean => rule.keep === 'slot' && looks < 2;

/** Whether the answer is older than what its reader was told before; for others it may be good. */
function isBelowFloor({ told }: Kept, { floor }: Call, { commitment }: CallKey): boolean {
  return floor != null && told !== null && commitment !== null && told < floor.at(commitment);
}
