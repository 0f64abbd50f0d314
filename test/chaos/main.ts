import { logTail } from '../programs/localnet.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { Pace, waitUntil } from '../programs/pace.ts';
import { Gauge } from '../programs/process-stats.ts';
import { eventually } from '../service/eventually.ts';
import { keysCommand } from '../service/keys-command.ts';
import { createRpcClient } from '../service/rpc-client.ts';
import { openHttpClient, openSocketClient, type Reply, type TestClient } from './load/clients.ts';
import { FaultChecker } from './load/fault-checker.ts';
import { type ReadCall, readCallsOf } from './load/read-calls.ts';
import { runSessions } from './load/sessions.ts';
import { Submissions } from './load/submissions.ts';
import { ANSWER_WINDOW_MS, FaultHistory, GRACE_MS } from './nodes/fault-history.ts';
import { FaultInjector, SeededRandom } from './nodes/fault-injector.ts';
import { startChaosFixture } from './nodes/fixture.ts';
import { PROMPT_MS, watchPulse } from './nodes/pulse.ts';

const SUCCESS_MIN = 0.9999;
/** Maximum ratio of memory in the second half to the first half, after warm-up. */
const GROWTH_MAX = 1.2;
/** Memory is not evaluated during warm-up or in shorter runs. */
const WARM_UP_SECONDS = 120;
const JUDGED_SECONDS = 180;

type Parts = Readonly<{
  seed: number;
  minutes: number;
  checker: FaultChecker;
  /** Number of requests that were not sent because too many were in flight. */
  skipped: number;
  sends: Submissions;
  gauge: Gauge;
}>;

const percent = (share: number): string => `${(share * 100).toFixed(4)} %`;

/** Null if the run is short. */
function growthOf(gauge: Gauge): number | null {
  const judged = gauge.memoryMib.length - WARM_UP_SECONDS;
  return judged < JUDGED_SECONDS ? null : gauge.growth(WARM_UP_SECONDS);
}

function brokenOf({ checker, gauge }: Parts): string[] {
  const shares = [...checker.tallies].flatMap(([kind, tally]) =>
    tally.share >= SUCCESS_MIN ? [] : [`${percent(tally.share)} of answerable ${kind} requests succeeded`],
  );
  const growth = growthOf(gauge);
  const grown =
    growth === null || growth <= GROWTH_MAX ? [] : [`memory grew by a factor of ${growth.toFixed(2)}`];
  const beyond = checker.brokenCount - checker.broken.length;
  return [...shares, ...checker.broken, ...(beyond > 0 ? [`${beyond} more`] : []), ...grown];
}

function resultOf(parts: Parts) {
  const { seed, minutes, checker, skipped, sends, gauge } = parts;
  const { outcomes, answers, rejected } = sends;
  return {
    ...{ seed, minutes },
    nodeFaults: checker.faultHistory
      .totals()
      .map((one) => ({ ...one, faults: checker.faultsDuring.get(one.fault) ?? 0 })),
    requests: Object.fromEntries([...checker.tallies].map(([kind, tally]) => [kind, tally.summary()])),
    skipped,
    transactions: { ...outcomes, answers, withoutBlockhash: rejected },
    memory: { mib: gauge.memoryMib.at(-1) ?? 0, growth: growthOf(gauge), cpuShare: gauge.cpuShare },
    waitedSeconds: Math.round(gauge.waitedMs / 1_000),
    broken: brokenOf(parts),
  };
}

function summaryOf({ broken, nodeFaults, requests, ...others }: ReturnType<typeof resultOf>): string {
  const line = (name: string, value: unknown): string => `${name}: ${JSON.stringify(value)}`;
  return [
    ...nodeFaults.map(({ fault, ...figures }) => line(`  ${fault}`, figures)),
    ...Object.entries(requests).map(([kind, figures]) => line(`  ${kind}`, figures)),
    ...Object.entries(others).map(([name, value]) => line(name, value)),
    ...(broken.length === 0 ? ['All promises held.'] : broken.map((one) => `BROKEN ${one}`)),
  ].join('\n');
}

/** Share of batches, and their maximum size. */
const BATCH_SHARE = 0.08;
const BATCH_CALLS_MAX = 12;
const IN_FLIGHT_MAX = 400;

type NextRead = (random: SeededRandom) => ReadCall;

function draw(next: NextRead, random: SeededRandom): ReadCall[] {
  if (!random.happens(BATCH_SHARE)) return [next(random)];
  const count = Math.round(random.between(2, BATCH_CALLS_MAX));
  return Array.from({ length: count }, () => next(random)).filter(({ isLong }) => isLong !== true);
}

function startReads(
  client: TestClient,
  next: NextRead,
  checker: FaultChecker,
  random: SeededRandom,
  perSecond: number,
): Pace {
  const act = async (): Promise<void> => {
    const requested = draw(next, random);
    if (requested.length === 0) return;
    const startedAt = performance.now();
    const replies = await client.send(requested.map(({ method, params }) => ({ method, params })));
    const endedAt = performance.now();
    const batch = requested.length > 1 ? ` in a batch of ${requested.length}` : '';
    for (const [at, { method, params, check, isLong = false }] of requested.entries()) {
      const reply = replies[at] as Reply;
      checker.note({
        ...{ kind: client.name, what: `${method} ${JSON.stringify(params).slice(0, 120)}${batch}` },
        ...{ startedAt, endedAt, fault: reply.kind === 'result' ? check(reply.result) : reply.text },
        isBrokenOff: isLong && reply.kind === 'broken',
      });
    }
  };
  return new Pace({ perSecond, inFlightMax: IN_FLIGHT_MAX, act });
}

const USAGE = `Usage: npm run chaos -- [options]

Runs the program in front of three nodes of one ledger, each behind a proxy of its own, and injects random faults: nodes
are killed, frozen (half-open), slow, throttled, reset within responses, behind (about 31 slots, moving), or stuck at a
slot. Meanwhile clients read over HTTP and WebSocket, alone and in batches, sessions read that must not observe the chain
going back, and real transactions are sent and tracked on the ledger itself.

A read is answerable when one node was healthy from ${GRACE_MS} ms before its start to its end, or for
${ANSWER_WINDOW_MS / 1_000} s. A node without an injected fault counts as starved, not as healthy, while it takes more
than ${PROMPT_MS / 1_000} s to respond to a direct request: the machine is overloaded.
Exits with 1 when less than ${SUCCESS_MIN * 100} % of the answerable reads got a right response, when a session went back, when a
transaction was lost or its response was wrong, or when memory of the second half is more than ${GROWTH_MAX} times that of
the first. Streamed responses that break off are counted separately: they cannot be resumed.

  --minutes N     duration (default 30)
  --seed N        determines the faults and their times (default: random)
  --reads N       reads per second (default 50)
  --sends N       transactions per second (default 6)
  --sessions N    sessions (default 6)
  --protocol NAME http, websocket or both: how reads are sent (default both)
  --slot-ms N     length of a slot (default 400)
  --json          print the result as JSON, and nothing else
`;

const options = readOptions(USAGE, {
  ...{ minutes: 30, seed: Math.floor(Math.random() * 2 ** 31), reads: 50, sends: 6, sessions: 6 },
  ...{ protocol: 'both', 'slot-ms': 400, json: false },
});
const { minutes, seed } = options;

const PROGRESS_MS = 10_000;
/** The share of reads over WebSocket with both protocols. */
const SOCKET_SHARE = 0.25;

const say = sayUnless(options.json);
say(`seed ${seed}, ${minutes} minutes; starting the ledger, its nodes and the gateway`);
const fixture = await startChaosFixture(options['slot-ms']);
const nextRead = await readCallsOf(fixture);

const { ready, key, process: gateway } = fixture.gateway;
const http = openHttpClient(ready.rpcUrl, key);
const socket = openSocketClient(`${ready.wsUrl}?api-key=${key}`);
const faultHistory = new FaultHistory(fixture.nodes.map(({ name }) => name));
const checker = new FaultChecker(faultHistory, say);

/** Each kind of load has its own random numbers, so that faults do not depend on the speed of the load. */
const randomOf = (nth: number): SeededRandom => new SeededRandom(seed + 1_000 * nth);
const shares = { http: [1, 0], websocket: [0, 1], both: [1 - SOCKET_SHARE, SOCKET_SHARE] }[options.protocol];
if (shares === undefined)
  throw new Error(`there is no protocol ${options.protocol}: http, websocket or both`);
const sends = new Submissions({
  ...{ client: http, fixture, checker, random: randomOf(3), perSecond: options.sends },
});
/** A session is identified by a header, or consists of all requests of a key over any protocol. */
const boundKey = await keysCommand(fixture.gateway, 'create', '--name', 'bound', '--never-back', 'yes');
const rpc = createRpcClient(ready.rpcUrl, boundKey.secret);
await eventually(async () => (await rpc.call('getSlot')).status === 200, 'the key is in force');
const boundSocket = openSocketClient(`${ready.wsUrl}?api-key=${boundKey.secret}`);
const ofHeader = { kind: 'session', client: http, count: options.sessions, readers: 2 };
const ofKey = { kind: 'bound-key', client: boundSocket, count: 1, readers: 4 };
const gauge = new Gauge(gateway.pid ?? 0);

const beganAt = performance.now();
const isOver = (): boolean => performance.now() - beganAt > minutes * 60_000;
const reads = [http, socket].flatMap((client, at) => {
  const perSecond = options.reads * shares[at]!;
  return perSecond === 0 ? [] : [startReads(client, nextRead, checker, randomOf(1 + at), perSecond)];
});

function progress(): void {
  checker.forget();
  const counts = [...checker.tallies].map(([kind, { good, answerable }]) => `${kind} ${good}/${answerable}`);
  const now = performance.now();
  const memory = gauge.memoryMib.at(-1) ?? 0;
  say(
    `${Math.round((now - beganAt) / 1_000)} s: ${counts.join(', ')}; ${sends.pending} pending; ${memory} MiB; ` +
      faultHistory.describe(now, now + 1),
  );
}

const timer = setInterval(progress, PROGRESS_MS);
await Promise.all([
  new FaultInjector(fixture.nodes, faultHistory, seed).run(isOver),
  ...fixture.nodes.map((node, at) => watchPulse(node, at, faultHistory, isOver)),
  ...[ofHeader, ofKey].map((one, nth) =>
    runSessions({ ...one, fixture, checker, random: randomOf(4 + nth) }, isOver),
  ),
  sends.run(isOver),
  waitUntil(isOver).then(async () => {
    gauge.stop();
    await Promise.all(reads.map((pace) => pace.stop()));
  }),
]);
clearInterval(timer);

const skipped = reads.reduce((sum, pace) => sum + pace.skipped, 0) + sends.skipped;
const result = resultOf({ seed, minutes, checker, skipped, sends, gauge });
if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(summaryOf(result));
say(gauge.summary);
if (result.broken.length > 0) say(logTail(fixture.gateway));
await Promise.all([socket, boundSocket].map((one) => one.close()));
await http.close();
await fixture.stop();
process.exit(result.broken.length === 0 ? 0 : 1);
