import { createLogger } from '../../../src/base/log.ts';
import type { Call } from '../../../src/protocol/call.ts';
import { methodRow } from '../../../src/protocol/methods.ts';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { createUpstreamPool, type UpstreamPool } from '../../../src/upstream/pool.ts';
import { type Behaviour, type MockNode, startMock } from './server.ts';

/** Short, but enough for slow machines; polls only after `start`. */
const testLimits: Partial<UpstreamLimits> = {
  attemptTimeoutMs: 2_000,
  timeoutMs: 5_000,
  backoffMs: 5,
  restMs: 60,
  pollIntervalMs: 30,
  pollTimeoutMs: 2_000,
};

export type Scene = Readonly<{
  pool: UpstreamPool;
  mocks: readonly MockNode[];
  /** Log lines so far. */
  logged: readonly string[];
  close(): Promise<void>;
}>;

/** Pool on devnet over mock nodes and nodes at given URLs. */
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
  const close = async (): Promise<void> => {
    await pool.stop();
    await Promise.all(mocks.map((mock) => mock.close()));
  };
  return { pool, mocks, logged, close };
}

/** Call on devnet. */
export const call = (method: string, params: unknown = []): Call => ({
  network: 'devnet',
  method,
  row: methodRow(method),
  params: Buffer.from(JSON.stringify(params)),
});

/** Waits for a condition, at most five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
