import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Gauge } from '../soak/geyser/gauge.ts';
import { waitedForProcessorMs } from '../soak/rest/pulse.ts';
import { makeBoundKey } from './load/bound-key.ts';
import { HttpTestClient, type TestClient, WebSocketTestClient } from './load/clients.ts';
import { FaultChecker } from './load/fault-checker.ts';
import { GatewayLog } from './load/gateway-log.ts';
import { makeHistory } from './load/history.ts';
import { ReadCalls } from './load/read-calls.ts';
import { Reads } from './load/reads.ts';
import { Sessions } from './load/sessions.ts';
import { Submissions } from './load/submissions.ts';
import { ANSWER_WINDOW_MS, FaultHistory, GRACE_MS } from './nodes/fault-history.ts';
import { FaultInjector } from './nodes/fault-injector.ts';
import { ChaosFixture } from './nodes/fixture.ts';
import { PROMPT_MS, watchPulse } from './nodes/pulse.ts';
import { SeededRandom } from './nodes/seeded-random.ts';
import { GROWTH_MAX, type Parts, resultOf, SUCCESS_MIN, summaryOf } from './report.ts';

const USAGE = `Usage: npm run chaos -- [options]

Runs the real program in front of three nodes of one ledger, each behind a proxy of its own, and makes the nodes ill at
random: killed, frozen (half-open), slow, narrow, breaking off in the middle of answers, behind (about 31 slots, moving),
or stuck at a slot. Meanwhile clients read through both doors, alone and in batches, sessions read that may not see the
chain go back, and real transactions are sent and followed on the ledger itself.

A read could have been answered when one node was well from ${GRACE_MS} ms before its beginning to its end, or for
${ANSWER_WINDOW_MS / 1_000} s. A node to which nothing was done counts as starved, not as well, while it takes more than
${PROMPT_MS / 1_000} s to answer who asks it past the gateway: the machine is too busy.
Ends with 1 when less than ${SUCCESS_MIN * 100} % of those were answered as they must be, when a session went back, when a
transaction was lost or answered wrongly, or when memory of the second half is more than ${GROWTH_MAX} times that of the first.
Long answers that break off once they have begun are counted apart: nobody can take them up again.

  --minutes N     how long (default 30)
  --seed N        what happens to the nodes, and when (default: by chance)
  --reads N       requests a second of readers (default 50)
  --sends N       transactions a second (default 6)
  --sessions N    sessions (default 6)
  --protocol NAME http, websocket or both: how readers send calls (default both)
  --slot-ms N     length of a slot (default 400)
  --json          print the result as JSON, and nothing else
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string' },
    reads: { type: 'string', default: '50' },
    sends: { type: 'string', default: '6' },
    sessions: { type: 'string', default: '6' },
    protocol: { type: 'string', default: 'both' },
    'slot-ms': { type: 'string', default: '400' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const PROGRESS_MS = 10_000;
/** The share of reads over WebSocket where both doors are asked. */
const SOCKET_SHARE = 0.25;

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${text}\n`);
};

const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
say(`seed ${seed}, ${minutes} minutes; starting the ledger, its nodes and the gateway`);
const scene = await ChaosFixture.start({ slotMs: Number(values['slot-ms']) });
await makeHistory(scene);
const questions = await ReadCalls.of(scene);

const { ready, key, process: gateway } = scene.gateway;
const http = new HttpTestClient(ready.rpcUrl, key);
const socket = new WebSocketTestClient(`${ready.wsUrl}?api-key=${key}`);
const ailments = new FaultHistory(scene.nodes.map(({ name }) => name));
const judge = new FaultChecker(ailments, new GatewayLog(scene.logFile), say);

/** Each kind of load has chance of its own: what happens to the nodes does not depend on how quick they are. */
const chanceOf = (nth: number): SeededRandom => new SeededRandom(seed + 1_000 * nth);
const readsOf = (client: TestClient, share: number, nth: number): Reads =>
  new Reads({
    client,
    questions,
    checker: judge,
    chance: chanceOf(nth),
    perSecond: Number(values.reads) * share,
  });

const reads = {
  http: [readsOf(http, 1, 1)],
  websocket: [readsOf(socket, 1, 2)],
  both: [readsOf(http, 1 - SOCKET_SHARE, 1), readsOf(socket, SOCKET_SHARE, 2)],
}[values.protocol];
if (reads === undefined) throw new Error(`there is no protocol ${values.protocol}: http, websocket or both`);
const sends = new Submissions({
  client: http,
  scene,
  checker: judge,
  chance: chanceOf(3),
  perSecond: Number(values.sends),
});
/** Sessions are named by a header, or all that a key asks is one, through whichever door. */
const boundSocket = new WebSocketTestClient(`${ready.wsUrl}?api-key=${await makeBoundKey(scene.gateway)}`);
const ofHeader = { kind: 'session', client: http, count: Number(values.sessions), readers: 2 };
const ofKey = { kind: 'bound-key', client: boundSocket, count: 1, readers: 4 };
const sessions = [ofHeader, ofKey].map(
  (one, nth) => new Sessions({ ...one, scene, checker: judge, chance: chanceOf(4 + nth) }),
);
const gauge = new Gauge(gateway.pid ?? 0);
const waitedMs = (): number => waitedForProcessorMs(gateway.pid ?? 0);
const parts: Parts = { seed, minutes, checker: judge, reads, sends, gauge, waitedMs };

const beganAt = performance.now();
const isOver = (): boolean => performance.now() - beganAt > minutes * 60_000;

function progress(): void {
  judge.forget();
  const counts = [...judge.tallies].map(
    ([kind, { good, answerable, failed }]) => `${kind} ${good}/${answerable} (${failed} not)`,
  );
  const now = performance.now();
  const seconds = Math.round((now - beganAt) / 1_000);
  const memory = gauge.memoryMib.at(-1) ?? 0;
  say(
    `${seconds} s: ${counts.join(', ')}; ${sends.pending} pending; ${memory} MiB; ${ailments.describe(now, now + 1)}`,
  );
}

const timer = setInterval(progress, PROGRESS_MS);
await Promise.all([
  new FaultInjector(scene.nodes, ailments, seed).run(isOver),
  ...scene.nodes.map((node, at) => watchPulse(node, at, ailments, isOver)),
  ...reads.map((one) => one.run(isOver)),
  ...sessions.map((one) => one.run(isOver)),
  sends.run(isOver),
  delay(minutes * 60_000).then(() => gauge.stop()),
]);
clearInterval(timer);

const result = resultOf(parts);
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(summaryOf(parts));
await Promise.all([socket, boundSocket].map((one) => one.close()));
await http.close();
await scene.stop();
process.exit(result.broken.length === 0 ? 0 : 1);
