import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import type { SharedCalls } from '../coalesce/shared-calls.ts';
import { nothingAsked } from '../nothing-asked.ts';
import type { AnswerCounts } from './answer-counts.ts';
import type { AnswerMemory } from './answer-memory.ts';
import type { CallKeys } from './call-key.ts';

export type KeptAnswersOptions = Readonly<{
  /** What is asked when nothing is kept; the memory hears its answers. */
  shared: SharedCalls;
  memory: AnswerMemory;
  keys: CallKeys;
  counts: AnswerCounts;
}>;

/** Answers what is kept from memory, at once, and asks for the rest. */
export class KeptAnswers implements DirectSource {
  readonly #parts: KeptAnswersOptions;

  constructor(parts: KeptAnswersOptions) {
    this.#parts = parts;
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const { shared, memory, keys, counts } = this.#parts;
    const key = keys.keyOf(call);
    if (key === null || key.rule.keep === 'never') return shared.putAs(key, call, asker);
    key.looks++;
    const answer = memory.find(call, key);
    if (answer === null) {
      counts.misses++;
      return shared.putAs(key, call, asker);
    }
    counts.hits++;
    call.trace?.spared?.('cache', performance.now());
    asker.answered(answer);
    return nothingAsked;
  }
}
