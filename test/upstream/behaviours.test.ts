import { afterAll, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { genesisHashes } from '../../src/upstream/chain.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { behind } from './mock/behind.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest, dyingMidBody } from './mock/dying.ts';
import { failing } from './mock/failing.ts';
import { empty, htmlBadGateway, noId, truncated, wrongId } from './mock/garbage.ts';
import { halfOpen } from './mock/half-open.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { refusing } from './mock/refusing.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';
import { telling } from './mock/telling.ts';
import { throttling } from './mock/throttling.ts';

/** Each kind of bad node beside a good one, and alone: what whoever asks is told. */

const GOOD = '{"context":{"slot":5000},"value":7}';
const STALE = '{"context":{"slot":4000},"value":6}';
let slotNow = 5_000;
/** Moves on with every poll of anybody. */
const head = (): number => slotNow++;
const genesis = genesisHashes.devnet;
const good = telling({ slot: head, genesis, result: GOOD });

const READS = 8;
const limits: Partial<UpstreamLimits> = {
  attemptTimeoutMs: 1_000,
  timeoutMs: 3_000,
  attemptsMax: 3,
  reconnectMaxMs: 50,
  restWaitMaxMs: 50,
  stallMs: 100,
  hedgeMaxMs: 300,
};

/** How it is called, the node, and the state in which it is known in the end, where that is certain. */
type Row = readonly [name: string, node: Behaviour | NodeConfig, state?: string];

const half = await halfOpen();
afterAll(() => half.close());

const rows: readonly Row[] = [
  ['dead', { name: 'node-0', url: await deadUrl() }, 'failing'],
  ['half-open', { name: 'node-0', url: half.url }],
  ['silent', silent],
  ['slow', slow(400, good)],
  ['reset after the request', dyingAfterRequest, 'failing'],
  ['reset in the body', dyingMidBody, 'failing'],
  ['truncated JSON', truncated, 'failing'],
  ['wrong id', wrongId, 'failing'],
  ['no id', noId, 'failing'],
  ['nothing', empty, 'failing'],
  ['HTML 502', htmlBadGateway, 'failing'],
  ['403', refusing(403), 'failing'],
  ['429', throttling(), 'resting'],
  ['429 with Retry-After', throttling('30'), 'resting'],
  ['429 with a date', throttling(new Date(Date.now() + 40_000).toUTCString()), 'resting'],
  ['says it is behind', behind],
  ['no history', failing(-32011)],
  ['no index', failing(-32010)],
  ['no such method', failing(-32601)],
  ['ok but does not replay', telling({ slot: 4_900, shreds: 5_200, genesis, result: STALE }), 'behind'],
  ['frozen slot', telling({ slot: 4_950, genesis, result: STALE }), 'behind'],
  ['lying slot', leaping(), 'ahead'],
  ['wrong network', telling({ genesis: genesisHashes.testnet, result: STALE }), 'wrong-chain'],
];

/** Leaps far ahead at its second word. */
function leaping(): Behaviour {
  let asked = 0;
  return telling({ slot: () => (asked++ === 0 ? 5_000 : 9_000_000 + asked), genesis, result: STALE });
}

/** What whoever asks is told: the result, or what the failure is called. */
const told = (scene: Scene): Promise<string> =>
  scene.pool.ask(call('getBalance', ['x', { commitment: 'processed' }])).then(
    ({ body, errorCode }) => (errorCode === 0 ? body.toString() : `JSON-RPC ${errorCode}`),
    (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason)),
  );

async function besideGood([, node, state]: Row): Promise<readonly [string, string, number]> {
  const scene = await stage([node, good], limits);
  try {
    const { pool } = scene;
    pool.start();
    const known = (): string => pool.status()[0]!.state;
    await until(() => pool.status()[1]!.state === 'healthy' && (state === undefined || known() === state));
    let ok = 0;
    let slowestMs = 0;
    for (let i = 0; i < READS; i++) {
      const startedAt = performance.now();
      if ((await told(scene)) === GOOD) ok++;
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
    return [`${ok}/${READS}`, known(), Math.round(slowestMs)];
  } finally {
    await scene.close();
  }
}

async function alone([, node]: Row): Promise<string> {
  const scene = await stage([node], limits);
  try {
    return await told(scene);
  } finally {
    await scene.close();
  }
}

it('Reads succeed beside any kind of bad node, and what it alone comes to has a name', async () => {
  const lines: string[] = [];
  await Promise.all(
    rows.map(async (row, index) => {
      const [[ok, state, slowestMs], only] = await Promise.all([besideGood(row), alone(row)]);
      const cells = [row[0].padEnd(24), ok.padEnd(8), `${slowestMs} ms`.padEnd(9), state.padEnd(12), only];
      lines[index] = cells.join('  ');
      expect([row[0], ok]).toEqual([row[0], `${READS}/${READS}`]);
      expect(only).not.toContain('Error');
    }),
  );
  const title = ['the bad node', 'right', 'slowest', 'known as', 'what is told where it is the only one'];
  const widths = [24, 8, 9, 12, 0];
  const heading = title.map((word, index) => word.padEnd(widths[index] ?? 0)).join('  ');
  process.stdout.write(`\n${heading}\n${lines.join('\n')}\n`);
});
