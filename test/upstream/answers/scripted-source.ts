import { type Slot, slot } from '../../../src/ledger/units.ts';
import type {
  Answer,
  Asked,
  Asker,
  Call,
  CallTrace,
  DirectSource,
  Spared,
} from '../../../src/protocol/call.ts';
import type { Commitment } from '../../../src/protocol/commitment.ts';
import { askDirectly } from '../../../src/protocol/direct-source.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { methodRow } from '../../../src/protocol/methods.ts';
import type { KnownSlot, KnownSlots } from '../../../src/upstream/known-slots.ts';

/** A call on devnet. */
export const callOf = (method: string, params?: unknown, more: Partial<Call> = {}): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: params === undefined ? null : Buffer.from(JSON.stringify(params)),
  ...more,
});

export const resultOf = (json: string): Answer => ({ body: Buffer.from(json), errorCode: 0 });

/** A result with a context. */
export const at = (contextSlot: number, value = '1'): Answer =>
  resultOf(`{"context":{"apiVersion":"3.0.0","slot":${contextSlot}},"value":${value}}`);

/** One call that reached the source and waits to be ended by the test. */
export type Reached = Readonly<{
  call: Call;
  asker: Asker;
  answer(answer: Answer): void;
  fail(failure: Failure): void;
  /** How often the source was told that whoever asked has left. */
  left(): number;
}>;

/** A source that answers when the test says so, or at once by a script. */
export class ScriptedSource implements DirectSource {
  readonly reached: Reached[] = [];
  /** Answers each call at once where it gives an answer. */
  script: (call: Call) => Answer | null = () => null;

  /** The params of all calls, in order. */
  get params(): (string | null)[] {
    return this.reached.map(({ call }) => call.params?.toString() ?? null);
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    let left = 0;
    let isOver = false;
    const end = (tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      tell();
    };
    const answer = (given: Answer): void => end(() => asker.answered(given));
    const fail = (failure: Failure): void => end(() => asker.failed(failure));
    this.reached.push({ call, asker, answer, fail, left: () => left });
    const scripted = this.script(call);
    if (scripted !== null) answer(scripted);
    const leave = (): void => {
      left++;
      fail(new Failure('CLIENT_GONE'));
    };
    return { leave };
  }
}

/** Hears what a call came to, and what its trace was told. */
export class Listener implements Asker, CallTrace {
  readonly answers: Answer[] = [];
  readonly failures: Failure[] = [];
  readonly sparedBy: Spared[] = [];
  onEnd: () => void = () => {};

  answered(answer: Answer): void {
    this.answers.push(answer);
    this.onEnd();
  }

  failed(failure: Failure): void {
    this.failures.push(failure);
    this.onEnd();
  }

  attempted(): void {}

  spared(by: Spared): void {
    this.sparedBy.push(by);
  }

  /** How it ended: the text of the answer, or the code of the failure; null while it has not. */
  get ending(): string | null {
    const ends = [
      ...this.answers.map(({ body }) => body.toString()),
      ...this.failures.map(({ code }) => code),
    ];
    if (ends.length > 1) throw new Error(`ended ${ends.length} times: ${ends.join(', ')}`);
    return ends[0] ?? null;
  }
}

/** What a test says is known of slots, of every network. */
export class ScriptedSlots implements KnownSlots {
  readonly known = new Map<Commitment, KnownSlot>();

  know(commitment: Commitment, value: number | Slot, atMs = 0): void {
    this.known.set(commitment, { slot: slot(BigInt(value)), atMs });
  }

  slotAt(_network: string, commitment: Commitment): KnownSlot | null {
    return this.known.get(commitment) ?? null;
  }
}
