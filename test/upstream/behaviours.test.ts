import { afterAll, describe, expect, it } from 'vitest';
import type { Call } from '../../src/protocol/call.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { genesisHashes } from '../../src/upstream/genesis.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import type { NodeStatus } from '../../src/upstream/node-status.ts';
import { behind } from './mock/behind.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { dyingMidBody } from './mock/dying-mid-body.ts';
import { empty } from './mock/empty.ts';
import { failing } from './mock/failing.ts';
import { frozenSlot } from './mock/frozen-slot.ts';
import { halfOpen } from './mock/half-open.ts';
import { htmlBadGateway } from './mock/html-bad-gateway.ts';
import { lyingSlot } from './mock/lying-slot.ts';
import { noHistory } from './mock/no-history.ts';
import { noId } from './mock/no-id.ts';
import { noIndex } from './mock/no-index.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { refusing } from './mock/refusing.ts';
import { reporting } from './mock/reporting.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';
import { stale } from './mock/stale.ts';
import { throttling } from './mock/throttling.ts';
import { truncated } from './mock/truncated.ts';
import { wrongId } from './mock/wrong-id.ts';
import { wrongNetwork } from './mock/wrong-network.ts';

/** Each kind of bad node beside a good one and alone: the caller's result and the node's state. */

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
  ...{ reconnectMaxMs: 50, restWaitMaxMs: 50, stallMs: 100, hedgeMaxMs: 300 },
};

/** For slow nodes, and slow machines. */
const patient: Partial<UpstreamLimits> = { attemptTimeoutMs: 4_500, timeoutMs: 4_500, pollTimeoutMs: 4_500 };

const balance = call('getBalance', ['x', { commitment: 'processed' }]);
const history = call('getTransaction', ['x']);
const index = call('getTokenAccountsByOwner', ['x', { programId: 'y' }]);

type Row = Readonly<{
  name: string;
  node: Behaviour | NodeConfig;
  /** Final state of the node. */
  state: NodeStatus['state'];
  /** Result if it is the only node. */
  alone: string;
  call_?: Call;
  limits?: Partial<UpstreamLimits>;
}>;

const half = await halfOpen();
afterAll(() => half.close());
const at = (url: string): NodeConfig => ({ name: 'node-0', url });
const inAWhile = new Date(Date.now() + 40_000).toUTCString();

const [AWAY, LATE] = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'];

// biome-ignore format: a table is read by its columns
const rows: readonly Row[] = [
  { name: 'dead', node: at(await deadUrl()), state: 'failing', alone: AWAY },
  { name: 'half-open', node: at(half.url), state: 'failing', alone: LATE },
  { name: 'silent', node: silent, state: 'failing', alone: LATE },
  { name: 'slow', node: slow(400, good), state: 'healthy', alone: GOOD, limits: patient },
  { name: 'reset after the request', node: dyingAfterRequest, state: 'failing', alone: AWAY },
  { name: 'reset in the body', node: dyingMidBody, state: 'failing', alone: AWAY },
  { name: 'truncated JSON', node: truncated, state: 'failing', alone: AWAY },
  { name: 'wrong id', node: wrongId, state: 'failing', alone: AWAY },
  { name: 'no id', node: noId, state: 'failing', alone: AWAY },
  { name: 'nothing', node: empty, state: 'failing', alone: AWAY },
  { name: 'HTML 502', node: htmlBadGateway, state: 'failing', alone: AWAY },
  { name: '403', node: refusing(403), state: 'failing', alone: AWAY },
  { name: '429', node: throttling(), state: 'resting', alone: AWAY },
  { name: '429 with Retry-After', node: throttling('30'), state: 'resting', alone: AWAY },
  { name: '429 with a date', node: throttling(inAWhile), state: 'resting', alone: AWAY },
  { name: 'says it is behind', node: behind, state: 'behind', alone: 'JSON-RPC -32005' },
  { name: 'no history', node: noHistory(old), state: 'healthy', alone: 'JSON-RPC -32011', call_: history },
  { name: 'no index', node: noIndex(old), state: 'healthy', alone: 'JSON-RPC -32010', call_: index },
  { name: 'no such method', node: failing(-32601), state: 'healthy', alone: 'JSON-RPC -32601' },
  { name: 'ok but stale', node: stale(old), state: 'behind', alone: STALE },
  { name: 'frozen slot', node: frozenSlot(old), state: 'behind', alone: STALE },
  { name: 'lying slot', node: lyingSlot(old), state: 'ahead', alone: STALE },
  { name: 'wrong network', node: wrongNetwork(old), state: 'wrong-chain', alone: STALE },
];

/** Result, or code of the failure. */
const resultOf = (scene: Scene, call_: Call): Promise<string> =>
  request(scene.pool, call_).then(
    ({ body, errorCode }) => (errorCode === 0 ? body.toString() : `JSON-RPC ${errorCode}`),
    (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason)),
  );

type Seen = Readonly<{ answers: readonly string[]; state: string; slowestMs: number }>;

async function besideGood({ node, state, call_ = balance, limits: own }: Row): Promise<Seen> {
  const scene = await stage([node, good], { ...limits, ...own });
  try {
    const { pool } = scene;
    pool.start();
    const known = (): string => pool.status()[0]!.state;
    await until(() => pool.status()[1]!.state === 'healthy' && known() === state);
    const answers: string[] = [];
    let slowestMs = 0;
    for (let i = 0; i < READS; i++) {
      const startedAt = performance.now();
      answers.push(await resultOf(scene, call_));
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
    return { answers, state: known(), slowestMs };
  } finally {
    await scene.close();
  }
}

async function alone({ node, call_ = balance, limits: own }: Row): Promise<string> {
  const scene = await stage([node], { ...limits, ...own });
  try {
    return await resultOf(scene, call_);
  } finally {
    await scene.close();
  }
}

describe('bad nodes', () => {
  const lines = new Map<string, string>();
  afterAll(() => {
    const title = [
      'the bad node',
      'right',
      'slowest',
      'known as',
      'what is resultOf where it is the only one',
    ];
    const table = [lineOf(title), ...rows.flatMap(({ name }) => lines.get(name) ?? [])];
    process.stdout.write(`\n${table.join('\n')}\n`);
  });

  it.concurrent.each(rows)(
    '$name: fails no read that another node can answer, and gives $alone alone',
    async (row) => {
      const [{ answers, state, slowestMs }, only] = await Promise.all([besideGood(row), alone(row)]);
      const right = answers.filter((answer) => answer === GOOD).length;
      lines.set(
        row.name,
        lineOf([row.name, `${right}/${READS}`, `${Math.round(slowestMs)} ms`, state, only]),
      );
      expect(answers).toEqual(Array(READS).fill(GOOD));
      expect([state, only]).toEqual([row.state, row.alone]);
    },
  );
});

const widths = [24, 8, 9, 12, 0];
const lineOf = (cells: readonly string[]): string =>
  cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
