import { afterEach, expect } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import type { Call, RpcDispatcher } from '../../../src/protocol/call.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { methodRow } from '../../../src/protocol/methods.ts';
import { request } from '../../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { createUpstreamPool } from '../../../src/upstream/pool.ts';
import type { UpstreamPool } from '../../../src/upstream/upstream-pool.ts';
import { type Behaviour, type MockNode, startMock } from './server.ts';

/** Short timeouts that are still long enough for slow machines. */
const testLimits: Partial<UpstreamLimits> = {
  attemptTimeoutMs: 2_000,
  timeoutMs: 5_000,
  backoffMs: 5,
  throttleMs: 60,
  pollIntervalMs: 30,
  pollTimeoutMs: 2_000,
};

export type Scene = Readonly<{
  pool: UpstreamPool;
  mocks: readonly MockNode[];
  logged: readonly string[];
  send(method?: string, params?: unknown, signal?: AbortSignal): Promise<string>;
  sendMany(times: number, method?: string, params?: unknown): Promise<string[]>;
  sendAtOnce(times: number, method?: string, params?: unknown): Promise<string[]>;
  states(): string[];
  /** Requests to each mock node, without polls. */
  counts(method?: string): number[];
  close(): Promise<void>;
}>;

export const outcomeOf = (dispatcher: RpcDispatcher, rpcCall: Call, signal?: AbortSignal): Promise<string> =>
  request(dispatcher, rpcCall, signal).then(
    ({ body, errorCode }) => (errorCode === 0 ? body.toString() : String(errorCode)),
    (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason)),
  );

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}

export async function stage(
  nodes: readonly (Behaviour | NodeConfig)[],
  limits: Partial<UpstreamLimits> = {},
): Promise<Scene> {
  const mocks: MockNode[] = [];
  const configs: NodeConfig[] = [];
  for (const node of nodes) {
    if (typeof node !== 'function') {
      configs.push(node);
      continue;
    }
    const mock = await startMock(node);
    mocks.push(mock);
    configs.push({ name: `node-${mocks.length}`, url: mock.url });
  }
  const logged: string[] = [];
  const pool = createUpstreamPool({
    nodes: { devnet: configs },
    limits: { ...testLimits, ...limits },
    log: createLogger('debug', (line) => logged.push(line)),
  });
  const send: Scene['send'] = (method = 'getBalance', params = [], signal) =>
    outcomeOf(pool, call(method, params), signal);
  return {
    ...{ pool, mocks, logged, send },
    async sendMany(times, ...given) {
      const outcomes: string[] = [];
      while (outcomes.length < times) outcomes.push(await send(...given));
      return outcomes;
    },
    sendAtOnce: (times, ...given) => Promise.all(Array.from({ length: times }, () => send(...given))),
    states: () => pool.status().map(({ state }) => state),
    counts: (method) =>
      mocks.map((mock) => (method === undefined ? mock.received.length : mock.count(method))),
    async close() {
      await pool.stop();
      await Promise.all(mocks.map((mock) => mock.close()));
    },
  };
}

type Closable = Readonly<{ close(): Promise<unknown> }>;

/** Returns a function that registers a resource to be closed after the test. */
export function closeAfterEach(): <T extends Closable>(opened: T) => T {
  const all: Closable[] = [];
  afterEach(async () => {
    for (const one of all.splice(0).reverse()) await one.close();
  });
  return (opened) => {
    all.push(opened);
    return opened;
  };
}

/** `stage` whose scenes are closed after each test of the file. */
export function stageForEach(): typeof stage {
  const closing = closeAfterEach();
  return async (...given) => closing(await stage(...given));
}

export const call = (method: string, params: unknown = []): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: Buffer.from(JSON.stringify(params)),
});

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
