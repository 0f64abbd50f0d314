import { expect, it } from 'vitest';
import { genesisHashes } from '../../src/upstream/genesis-hash.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import type { NodeStatus } from '../../src/upstream/node-status.ts';
import {
  behind,
  deadUrl,
  dyingMidBody,
  failing,
  frozenSlot,
  htmlBadGateway,
  lyingSlot,
  reporting,
  silent,
  slow,
  stale,
  throttling,
  truncated,
  wrongId,
  wrongNetwork,
} from './mock/behaviors.ts';
import { type Scene, stage, until } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';

/** Each kind of bad node, next to a good one and alone: the caller's result and the node's state. */

const GOOD = '{"context":{"slot":5000},"value":7}';
const STALE = '{"context":{"slot":4000},"value":6}';
let slotNow = 5_000;
/** Advances with every poll. */
const head = (): number => slotNow++;
const genesis = genesisHashes.devnet;
const good = reporting({ slot: head, genesis, result: GOOD });
const old = { slot: head, genesis, result: STALE };

const READS = 8;
const limits: Partial<UpstreamLimits> = {
  ...{ attemptTimeoutMs: 1_000, timeoutMs: 3_000, attemptsMax: 3, pollTimeoutMs: 800 },
  ...{ reconnectMaxMs: 50, throttleMs: 20_000, throttleWaitMaxMs: 50, stallMs: 100, hedgeMaxMs: 300 },
};

/** Long timeouts, for slow nodes and slow machines. */
const patient: Partial<UpstreamLimits> = { attemptTimeoutMs: 4_500, timeoutMs: 4_500, pollTimeoutMs: 4_500 };

const balance = ['getBalance', ['x', { commitment: 'processed' }]] as const;

type Row = Readonly<{
  name: string;
  node: Behaviour | NodeConfig;
  state: NodeStatus['state'];
  /** Result if it is the only node. */
  alone: string;
  limits?: Partial<UpstreamLimits>;
}>;

const at = (url: string): NodeConfig => ({ name: 'node-0', url });

const [AWAY, LATE] = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'];

// biome-ignore format: a table is read by its columns
const rows: readonly Row[] = [
  { name: 'dead', node: at(await deadUrl()), state: 'failing', alone: AWAY },
  { name: 'silent', node: silent, state: 'failing', alone: LATE },
  { name: 'slow', node: slow(400, good), state: 'healthy', alone: GOOD, limits: patient },
  { name: 'reset in the body', node: dyingMidBody, state: 'failing', alone: AWAY },
  { name: 'truncated JSON', node: truncated, state: 'failing', alone: AWAY },
  { name: 'wrong id', node: wrongId, state: 'failing', alone: AWAY },
  { name: 'HTML 502', node: htmlBadGateway, state: 'failing', alone: AWAY },
  { name: '429', node: throttling(), state: 'resting', alone: AWAY },
  { name: '429 with Retry-After', node: throttling('30'), state: 'resting', alone: AWAY },
  { name: 'JSON-RPC throttling', node: failing(-32429, 'rate limited'), state: 'resting', alone: AWAY },
  { name: 'reports itself behind', node: behind, state: 'behind', alone: '-32005' },
  { name: 'no such method', node: failing(-32601), state: 'healthy', alone: '-32601' },
  { name: 'ok but stale', node: stale(old), state: 'behind', alone: STALE },
  { name: 'frozen slot', node: frozenSlot(old), state: 'behind', alone: STALE },
  { name: 'implausible slot', node: lyingSlot(old), state: 'ahead', alone: STALE },
  { name: 'wrong network', node: wrongNetwork(old), state: 'wrong-chain', alone: STALE },
];

/** Runs a test with its own pool and closes it, because the tests run concurrently. */
async function using<T>(
  nodes: readonly Row['node'][],
  row: Row,
  run: (scene: Scene) => Promise<T>,
): Promise<T> {
  const scene = await stage(nodes, { ...limits, ...row.limits });
  return run(scene).finally(() => scene.close());
}

it.concurrent.each(rows)(
  'a bad node ($name) fails no reads next to a good node; alone, it yields $alone',
  async (row) => {
    const { node, state } = row;
    const besideGood = using([node, good], row, async (scene) => {
      scene.pool.start();
      await until(() => scene.states().join() === `${state},healthy`);
      return [...(await scene.sendMany(READS, ...balance)), scene.states()[0]];
    });
    const alone = using([node], row, (scene) => scene.send(...balance));
    expect(await Promise.all([besideGood, alone])).toEqual([[...Array(READS).fill(GOOD), state], row.alone]);
  },
);
