import { isUtf8 } from 'node:buffer';
import { isJson } from '../../base/json-scan.ts';
import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAsker } from '../../protocol/long-answer.ts';
import { nothingAsked } from '../nothing-asked.ts';
import type { AnswerCounts } from './answer-counts.ts';
import type { AnswerStore } from './answer-store.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import { ChainNames } from './chain-names.ts';
import type { FinalizedRoots } from './finalized-roots.ts';
import { type KeepTimes, keepTimeOf, keepTimes } from './keep-time.ts';
import type { Keep } from './reading-rules.ts';

export type StoredAnswersLimits = Readonly<{
  /** How long the store is waited for before a node is asked. */
  waitMs: number;
  /** How long it is left alone once it did not tell in time. */
  restMs: number;
  /** The longest answer that is stored. */
  answerMaxBytes: number;
}>;

export const storedAnswersLimits: StoredAnswersLimits = { waitMs: 5, restMs: 1_000, answerMaxBytes: 262_144 };

export type StoredAnswersOptions = Readonly<{
  source: DirectSource;
  store: AnswerStore;
  keys: CallKeys;
  counts: AnswerCounts;
  roots: FinalizedRoots;
  limits?: Partial<StoredAnswersLimits>;
  times?: Partial<KeepTimes>;
}>;

/** Deeper than any answer of a node nests. */
const DEPTH_MAX = 256;

/** The moving state is over before others could read of it. */
const isStored = (keep: Keep): boolean => keep === 'shortly' || keep === 'always' || keep === 'final';

/** Whether it can be passed on as a result: others write there too. */
const isResult = (body: Buffer): boolean => isUtf8(body) && isJson(body, DEPTH_MAX);

type Parts = StoredAnswersOptions &
  Readonly<{ limits: StoredAnswersLimits; times: KeepTimes; late: () => void }>;

/** A question to the store, then to the source if the store has nothing, or nothing in time. */
class Lookup implements Asked, Asker {
  readonly #parts: Parts;
  readonly #name: string;
  readonly #key: CallKey;
  readonly #call: Call;
  readonly #asker: Asker;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #isWaiting = true;
  #asked: Asked = nothingAsked;

  constructor(parts: Parts, name: string, key: CallKey, call: Call, asker: Asker) {
    this.#parts = parts;
    this.#name = name;
    this.#key = key;
    this.#call = call;
    this.#asker = asker;
  }

  begin(): void {
    const { store, limits, late } = this.#parts;
    this.#timer = setTimeout(() => {
      late();
      this.#told(null);
    }, limits.waitMs);
    store.get(this.#name, (body) => this.#told(body));
  }

  leave(): void {
    if (!this.#stopWaiting()) {
      this.#asked.leave();
      return;
    }
    const { network } = this.#call;
    this.#asker.failed(new Failure('CLIENT_GONE', { facts: { network } }));
  }

  /** Long ones are not stored. */
  get long(): LongAsker | null {
    return this.#asker.long ?? null;
  }

  answered(answer: Answer): void {
    const { store, limits, roots, times } = this.#parts;
    const { length } = answer.body;
    const ms = keepTimeOf(this.#key, answer, roots.rootOf(this.#call.network), times);
    if (ms > 0 && length <= limits.answerMaxBytes) store.set(this.#name, answer.body, ms);
    this.#asker.answered(answer);
  }

  failed(failure: Failure): void {
    this.#asker.failed(failure);
  }

  /** @returns whether the store was still waited for. */
  #stopWaiting(): boolean {
    if (!this.#isWaiting) return false;
    this.#isWaiting = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    return true;
  }

  #told(body: Buffer | null): void {
    if (!this.#stopWaiting()) return;
    const { counts, source } = this.#parts;
    if (body === null || !isResult(body)) {
      counts.unstored++;
      this.#asked = source.put(this.#call, this);
      return;
    }
    counts.stored++;
    this.#call.trace?.spared?.('store', this.#startedAt);
    this.#asker.answered({ body, errorCode: 0 });
  }
}

/** Answers what several gateways keep together, where it is told quickly, and adds to it what does not change. */
export class StoredAnswers implements DirectSource {
  readonly #parts: Parts;
  readonly #chains: ChainNames;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: StoredAnswersOptions) {
    const limits = { ...storedAnswersLimits, ...options.limits };
    const late = (): void => {
      this.#restsUntil = performance.now() + limits.restMs;
    };
    this.#parts = { ...options, limits, times: { ...keepTimes, ...options.times }, late };
    this.#chains = new ChainNames(options.source);
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const { keys, source } = this.#parts;
    const key = keys.keyOf(call);
    const mayBe = key !== null && isStored(key.rule.keep) && performance.now() >= this.#restsUntil;
    const chain = mayBe ? this.#chains.nameOf(call.network) : null;
    if (key === null || chain === null) return source.put(call, asker);
    const lookup = new Lookup(this.#parts, `${chain}\n${key.text}`, key, call, asker);
    lookup.begin();
    return lookup;
  }
}
