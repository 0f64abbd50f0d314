import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Call, ResponseHandler, RpcResponse } from '../../src/protocol/call.ts';
import type { Failure } from '../../src/protocol/errors.ts';
import type { Exchange, NodeRequest, PendingRequest } from '../../src/upstream/exchange.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';
import { UpstreamNode } from '../../src/upstream/node.ts';
import { NodeGroup } from '../../src/upstream/node-group.ts';
import { executeWithRetry } from '../../src/upstream/retry/executor.ts';
import { submitLimits } from '../../src/upstream/submit/limits.ts';
import { Submission } from '../../src/upstream/submit/submission.ts';
import { parseSubmitRequest } from '../../src/upstream/submit/submit-request.ts';
import { SubmitTargets } from '../../src/upstream/submit/submit-targets.ts';
import { sendCall, signedTransaction } from './mock/submitting.ts';

/** For any node behavior in any order, the response is correct and nodes receive only the transaction. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Shared, because signing takes longer than a hundred submissions. */
const { wire, signature } = signedTransaction();

const acts = [
  ...['accepts', 'processed', 'fails', 'forged', 'hash', 'behind', 'throttles', 'refused', 'lost'],
];
type Act = string;

const error = (code: number, err: string | null = null): string =>
  `"error":${JSON.stringify({ code, message: 'no', data: err === null ? undefined : { err } })}`;

const answers: Readonly<Record<string, () => string>> = {
  accepts: () => `"result":"${signature}"`,
  processed: () => error(-32002, 'AlreadyProcessed'),
  fails: () => error(-32002, 'AccountNotFound'),
  forged: () => error(-32003),
  hash: () => error(-32002, 'BlockhashNotFound'),
  behind: () => error(-32005),
};

function exchangeOf(act: Act, id: number): Exchange {
  if (act === 'throttles') return { kind: 'response', status: 429, retryAfter: '1', body: Buffer.alloc(0) };
  if (act === 'refused') return { kind: 'transport', wasSent: false, timedOut: false };
  if (act === 'lost') return { kind: 'transport', wasSent: true, timedOut: true };
  const body = Buffer.from(`{"jsonrpc":"2.0",${answers[act]!()},"id":${id}}`);
  return { kind: 'response', status: 200, retryAfter: null, body };
}

type Held = Readonly<{ node: ScriptedNode; request: NodeRequest; isPreflight: boolean }>;

class ScriptedNode extends UpstreamNode {
  readonly bodies: string[] = [];
  readonly #held: Held[];
  readonly #acts: readonly Act[];
  #at = 0;

  constructor(name: string, script: readonly Act[], held: Held[]) {
    super({ name, url: 'http://127.0.0.1:1' }, 'devnet', defaultUpstreamLimits);
    this.#acts = script;
    this.#held = held;
  }

  /** The next step of the script; the last one repeats. */
  next(): Act {
    return this.#acts[Math.min(this.#at++, this.#acts.length - 1)]!;
  }

  override send(request: NodeRequest): PendingRequest {
    const [body, config] = JSON.parse(String(request.params)) as [string, { skipPreflight?: boolean }];
    this.bodies.push(body);
    this.#held.push({ node: this, request, isPreflight: config.skipPreflight !== true });
    return { abort: () => {}, expire: () => {} };
  }
}

type End = Readonly<{ accepted: boolean; answer?: RpcResponse; failure?: Failure }>;
type Learned = Readonly<{ act: Act; node: ScriptedNode; isLate: boolean }>;
type Scripts = Readonly<{ nodes: Act[][]; sendOnly: Act[][]; skipPreflight: boolean; order: number[] }>;

const script = fc.array(fc.constantFrom(...acts), { minLength: 1, maxLength: 3 });
const scripts: fc.Arbitrary<Scripts> = fc.record({
  nodes: fc.array(script, { minLength: 1, maxLength: 3 }),
  sendOnly: fc.array(script, { maxLength: 2 }),
  skipPreflight: fc.boolean(),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
});

const limits = {
  ...defaultUpstreamLimits,
  attemptsMax: 6,
  timeoutMs: 5_000,
  backoffMs: 1,
  reconnectMaxMs: 200,
};

/** A submission; the test determines the order of the outcomes. */
class Run {
  readonly held: Held[] = [];
  readonly learned: Learned[] = [];
  readonly nodes: readonly ScriptedNode[];
  readonly sendOnly: readonly ScriptedNode[];
  readonly ends: End[] = [];
  preflights = 0;

  constructor({ nodes, sendOnly, skipPreflight }: Scripts) {
    this.nodes = nodes.map((one, at) => new ScriptedNode(`node-${at}`, one, this.held));
    this.sendOnly = sendOnly.map((one, at) => new ScriptedNode(`sender-${at}`, one, this.held));
    const group = new NodeGroup(this.nodes, limits);
    const dispatch = (request: Call, handler: ResponseHandler) => executeWithRetry(group, request, handler);
    const parts = {
      next: { dispatch },
      targets: new SubmitTargets({ nodesFor: () => this.nodes }, new Map([['devnet', this.sendOnly]])),
      limits: submitLimits,
    };
    const request = sendCall(wire, { skipPreflight });
    new Submission(parts, request, parseSubmitRequest(request.params)!, {
      onAccepted: () => this.ends.push({ accepted: true }),
      onRejected: (answer) => this.ends.push({ accepted: false, answer }),
      onError: (failure) => this.ends.push({ accepted: false, failure }),
    }).start();
  }

  /** Runs until the submission has ended and nothing is in flight. */
  play(order: readonly number[]): this {
    for (let step = 0; this.ends.length === 0 || this.held.length > 0; step++) {
      if (step > 5_000) throw new Error('it never ends');
      this.preflights = Math.max(this.preflights, this.held.filter(({ isPreflight }) => isPreflight).length);
      const [next] = this.held.splice((order[step % order.length] as number) % this.held.length, 1);
      if (next === undefined) vi.advanceTimersByTime(20);
      else this.#learn(next);
    }
    return this;
  }

  /** Outcomes received before the submission ended. */
  get known(): readonly Learned[] {
    return this.learned.filter(({ isLate }) => !isLate);
  }

  #learn({ node, request }: Held): void {
    const act = node.next();
    this.learned.push({ act, node, isLate: this.ends.length > 0 });
    request.onExchange(exchangeOf(act, request.id));
  }
}

const allNodes = ({ nodes, sendOnly }: Run): readonly ScriptedNode[] => [...nodes, ...sendOnly];
const didNot = (run: Run, act: Act): boolean => run.known.every((one) => one.act !== act);

const codes: Readonly<Record<string, readonly Act[]>> = {
  '-32002': ['processed', 'fails', 'hash'],
  '-32003': ['forged'],
  '-32005': ['behind'],
};

function checkEnd(run: Run, skipPreflight: boolean): void {
  const [end, ...more] = run.ends as [End, ...End[]];
  expect(more).toEqual([]);
  const acts = run.known.map(({ act }) => act);
  if (end.accepted) {
    const isKnown = acts.includes('processed') && (skipPreflight || acts.includes('lost'));
    expect(acts.includes('accepts') || isKnown).toBe(true);
    return;
  }
  expect(didNot(run, 'accepts')).toBe(true);
  if (end.answer !== undefined) {
    const own = run.known.filter(({ node }) => run.nodes.includes(node)).map(({ act }) => act);
    expect(codes[end.answer.errorCode]?.some((act) => own.includes(act))).toBe(true);
    if (acts.includes('lost')) expect(end.answer.errorCode).not.toBe(-32005);
    return;
  }
  const unknown = { outcome: 'unknown', signature };
  if (acts.includes('lost')) expect(end.failure!.facts).toMatchObject(unknown);
  else expect(end.failure!.facts).not.toHaveProperty('outcome');
}

it('a submission responds correctly and sends the same bytes to all nodes', () => {
  fc.assert(
    fc.property(scripts, (given) => {
      const run = new Run(given).play(given.order);
      checkEnd(run, given.skipPreflight);
      const bodies = new Set(allNodes(run).flatMap((node) => node.bodies));
      expect([...bodies]).toEqual([wire.toString('base64')]);
    }),
    { numRuns: 400 },
  );
});

it('a submission is simulated on one node at a time, then sent to all others', () => {
  fc.assert(
    fc.property(scripts, (given) => {
      const run = new Run({ ...given, skipPreflight: false }).play(given.order);
      expect(run.preflights).toBeLessThanOrEqual(1);
      const isAccepted = run.ends[0]!.accepted;
      expect(run.sendOnly.map(({ bodies }) => bodies.length)).toEqual(
        run.sendOnly.map(() => Number(isAccepted)),
      );
      if (isAccepted) expect(run.nodes.every(({ bodies }) => bodies.length > 0)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it('a submission without preflight is sent to all nodes at once', () => {
  fc.assert(
    fc.property(scripts, (given) => {
      const run = new Run({ ...given, skipPreflight: true });
      expect(new Set(run.held.map(({ node }) => node))).toEqual(new Set(allNodes(run)));
      expect(run.held).toHaveLength(allNodes(run).length);
      run.play(given.order);
    }),
    { numRuns: 50 },
  );
});
