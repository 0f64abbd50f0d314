import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TcpProxy } from '../chaos/tcp-proxy.ts';
import { startProgram, temporaryFolder } from '../service/program.ts';
import { startService } from '../service/start-service.ts';
import { KitClient } from './kit-client.ts';
import { type CheckResult, createSendRequest, LedgerTruth, type Watched } from './ledger-truth.ts';
import { Traffic } from './traffic.ts';
import { Web3jsClient } from './web3js-client.ts';
import { WireClient } from './wire-client.ts';

const USAGE = `Usage: npm run soak:websocket -- [options]

Runs the real program in front of two ways to one embedded ledger, with clients that subscribe to everything while
transactions flow, kills one way after the other, now and then both, and compares what the clients heard with the
ledger: every message, and of states the last, also of each gap in which both ways were away.
Ends with 1 when a message was missed or doubled, or the id of a subscription changed.

  --minutes N        how long (default 1)
  --kill-every N     seconds from one kill to the next (default 20)
  --down N           seconds that a killed node stays away (default 5)
  --freeze           freeze nodes (half-open connections) instead of killing them
  --lag N            slots that what the second node tells is behind (default 0)
  --per-second N     transactions (default 20)
  --slot-ms N        length of a slot (default 400)
  --json             print the result as JSON
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    'kill-every': { type: 'string', default: '20' },
    down: { type: 'string', default: '5' },
    freeze: { type: 'boolean', default: false },
    lag: { type: 'string', default: '0' },
    'per-second': { type: 'string', default: '20' },
    'slot-ms': { type: 'string', default: '400' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const SYSTEM = '11111111111111111111111111111111';
/** Every so many kills both ways are away at once, with nothing sent after what falls into the gap. */
const CALM_EACH = 2;
/** Transactions of such a gap; the last of them is waited for. */
const CALM_TRANSACTIONS = 4;
/** Slots after which what was sent is confirmed. */
const CONFIRMED_AFTER = 4;
/** How long clients may still hear when nothing happens any more. */
const QUIET_MS = 45_000;

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${text}\n`);
};

/** One way to the ledger: its JSON-RPC and its PubSub. */
type NodeConnection = Readonly<{ rpc: TcpProxy; pubsub: TcpProxy }>;

const both = ({ rpc, pubsub }: NodeConnection): readonly TcpProxy[] => [rpc, pubsub];

async function down(way: NodeConnection): Promise<void> {
  for (const proxy of both(way)) {
    if (values.freeze) proxy.freeze();
    else await proxy.kill();
  }
}

async function up(way: NodeConnection): Promise<void> {
  for (const proxy of both(way)) {
    if (values.freeze) proxy.thaw();
    else await proxy.revive();
  }
}

function table(verdicts: readonly CheckResult[]): string {
  const rows = verdicts.map(({ client, kind, received, missed, doubled, odd }) =>
    [
      client.padEnd(11),
      kind.padEnd(10),
      ...[received, missed.length, doubled.length, odd.length].map((n) => String(n).padStart(8)),
    ].join(' '),
  );
  const head = [
    'client'.padEnd(11),
    'kind'.padEnd(10),
    ...['heard', 'missed', 'doubled', 'odd'].map((name) => name.padStart(8)),
  ];
  return [head.join(' '), ...rows].join('\n');
}

const localnet = startProgram([
  'localnet',
  '--ledger',
  temporaryFolder('soak-ledger'),
  '--rpc-port',
  '0',
  '--slot-ms',
  values['slot-ms'],
  '--json',
]);
const [ready] = await localnet.said(/^\{"event":"ready".*\}$/m);
const { rpcPort, pubsubPort } = JSON.parse(ready) as { rpcPort: number; pubsubPort: number };
const request = createSendRequest(`http://127.0.0.1:${rpcPort}/`);
const ways: NodeConnection[] = [];
for (let i = 0; i < 2; i++) {
  ways.push({ rpc: await TcpProxy.start(rpcPort), pubsub: await TcpProxy.start(pubsubPort) });
}
const lagMs = Number(values.lag) * Number(values['slot-ms']);
ways[1]!.pubsub.delay(lagMs);
const service = await startService({
  configuration: '',
  arguments: ways.flatMap(({ rpc, pubsub }) => [
    '--upstream',
    `http://127.0.0.1:${rpc.port}/`,
    '--ws',
    `ws://127.0.0.1:${pubsub.port}/`,
  ]),
});
const traffic = new Traffic(request);
await traffic.fund();
const watched: Watched = {
  account: traffic.payer.publicKey.toBase58(),
  mentioned: traffic.recipients[0]!.publicKey.toBase58(),
  program: SYSTEM,
};
const wsUrl = `${service.ready.wsUrl}?api-key=${service.key}`;
const wire = await WireClient.open(wsUrl, watched);
const web3js = new Web3jsClient(`${service.ready.rpcUrl}?api-key=${service.key}`, wsUrl, watched);
const kit = await KitClient.open(wsUrl, watched);
const clients = [wire, web3js, kit];

async function expectAll(signature: string): Promise<void> {
  web3js.expect(signature);
  await Promise.all([wire.expect(signature), kit.expect(signature)]);
}

const slotOf = async (commitment: string): Promise<number> =>
  (await request('getSlot', [{ commitment }])) as number;

// web3.js does not say when it listens; what comes before is not compared.
await sleep(3_000 + 4 * lagMs);
const begun = await slotOf('processed');
const endAt = performance.now() + Number(values.minutes) * 60_000;
const truth = new LedgerTruth(request, watched);
const does = values.freeze ? 'freezes' : 'dies';
const now = (): string => new Date().toISOString();
/** What nobody told although it was the last of its gap. */
const unfilled: string[] = [];
let flowing = true;
let calm = false;
let kills = 0;

async function flow(): Promise<void> {
  for (let next = performance.now(); flowing; next += 1_000 / Number(values['per-second'])) {
    await sleep(Math.max(0, next - performance.now()));
    if (calm) continue;
    // A signature may be waited for while no node is there; the flow goes on.
    void traffic.send(expectAll).catch((fault: unknown) => say(`a transaction was not sent: ${fault}`));
  }
}

async function blockhashes(): Promise<void> {
  while (flowing) {
    await traffic.refresh();
    await sleep(2_000);
  }
}

/** Waits until some slots more are made. */
async function slotsLater(slots: number): Promise<void> {
  const until = (await slotOf('processed')) + slots;
  while ((await slotOf('processed')) < until) await sleep(50);
}

async function oneWayAway(turn: number): Promise<void> {
  const way = ways[turn % ways.length]!;
  say(`${now()} node ${(turn % ways.length) + 1} ${does}, with ${way.pubsub.connections} PubSub connections`);
  await down(way);
  await sleep(Number(values.down) * 1_000);
  await up(way);
}

/** What was told last lies in the gap: only who fills it can know. */
async function bothWaysAway(): Promise<void> {
  calm = true;
  await slotsLater(CONFIRMED_AFTER);
  await traffic.refresh();
  const prepared: string[] = [];
  for (let left = CALM_TRANSACTIONS; left > 0; left--) {
    prepared.push(await traffic.prepare(left === 1 ? expectAll : null));
  }
  say(`${now()} both nodes are away`);
  await Promise.all(ways.map(down));
  const back = performance.now() + Number(values.down) * 1_000;
  for (const wire of prepared) await traffic.submit(wire);
  await slotsLater(CONFIRMED_AFTER);
  await sleep(Math.max(0, back - performance.now()));
  await Promise.all(ways.map(up));
  await checkGap();
  calm = false;
}

/** Waits until every client knows the last state; notes who does not get to know it. */
async function checkGap(): Promise<void> {
  const states = await traffic.states();
  const missed = (): string[] =>
    clients.flatMap(({ received }) =>
      received.flatMap((one) => truth.lastMissed(one, traffic.waitedFor, states)),
    );
  const until = performance.now() + QUIET_MS;
  while (performance.now() < until && missed().length > 0) await sleep(100);
  for (const one of missed()) {
    say(`${now()} not told: ${one}`);
    unfilled.push(one);
  }
}

async function unrest(): Promise<void> {
  for (let next = performance.now(), turn = 0; ; turn++) {
    next = Math.max(next + Number(values['kill-every']) * 1_000, performance.now());
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    if (performance.now() >= endAt) return;
    kills++;
    if (turn % CALM_EACH === CALM_EACH - 1) await bothWaysAway();
    else await oneWayAway(turn / CALM_EACH);
  }
}

const flows = Promise.all([flow(), blockhashes()]);
await unrest();
flowing = false;
await flows;

const stopped = await slotOf('processed');
while ((await slotOf('finalized')) < stopped + 2) await sleep(200);
await truth.read(begun, stopped);
const after = await traffic.states();
const judged = (): CheckResult[] =>
  clients.flatMap(({ received }) => received.map((one) => truth.check(one, traffic.waitedFor, after)));
const faulty = ({ missed, doubled, odd }: CheckResult): boolean =>
  missed.length + doubled.length + odd.length > 0;
for (const until = performance.now() + QUIET_MS; performance.now() < until && judged().some(faulty); ) {
  await sleep(500);
}
const verdicts = judged();
const faults = verdicts.filter(faulty);
const whole = faults.length + unfilled.length === 0;
const result = {
  minutes: Number(values.minutes),
  kills,
  slots: stopped - begun,
  verdicts,
  unfilled,
  whole,
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(
  `\n${kills} times a node ${values.freeze ? 'froze' : 'died'}, in ${stopped - begun} slots\n${table(verdicts)}`,
);
for (const { client, kind, missed, doubled, odd } of faults) {
  say(
    `${client} ${kind}: ${JSON.stringify({ missed: missed.slice(0, 5), doubled: doubled.slice(0, 5), odd: odd.slice(0, 5) })}`,
  );
}
for (const one of unfilled) say(`the end of a gap was not told: ${one}`);
say(whole ? 'Nothing was missed, nothing came twice, no id changed.' : 'FAULTS');
if (!whole)
  say(
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":'))
      .slice(-40)
      .join('\n'),
  );
for (const client of clients) client.close();
await service.stop();
await Promise.all(ways.flatMap(both).map((proxy) => proxy.close()));
await localnet.stop();
process.exit(whole ? 0 : 1);
