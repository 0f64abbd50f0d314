import { setTimeout as sleep } from 'node:timers/promises';
import { ProxyGroup } from '../chaos/proxy-group.ts';
import { logTail, START_MS, startLocalnet } from '../programs/localnet.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { startService } from '../service/start-service.ts';
import { KitClient } from './kit-client.ts';
import { type CheckResult, describeFaults, isFaulty, LedgerTruth, type Watched } from './ledger-truth.ts';
import { Traffic } from './traffic.ts';
import { Web3jsClient } from './web3js-client.ts';
import { WireClient } from './wire-client.ts';

const USAGE = `Usage: npm run soak:websocket -- [options]

Runs the program in front of two nodes of one embedded ledger, with clients that subscribe to everything while
transactions are sent. Kills one node after the other, and sometimes both, and compares the notifications of the clients
with the ledger: every message, and the last of the states, also at the end of each gap in which both nodes were down.
Exits with 1 when a message was missed or duplicated, or the id of a subscription changed.

  --minutes N        duration (default 1)
  --kill-every N     seconds between kills (default 20)
  --down N           seconds that a killed node is down (default 5)
  --freeze           freeze nodes (half-open connections) instead of killing them
  --lag N            slots by which notifications of the second node are late (default 0)
  --per-second N     transactions (default 20)
  --slot-ms N        length of a slot (default 400)
  --json             print the result as JSON
`;

const options = readOptions(USAGE, {
  ...{ minutes: 1, 'kill-every': 20, down: 5, freeze: false, lag: 0, 'per-second': 20, 'slot-ms': 400 },
  json: false,
});
const { minutes, down: downSeconds, freeze, 'slot-ms': slotMs } = options;

const SYSTEM = '11111111111111111111111111111111';
/** Every nth time both nodes are down at once, and nothing is sent after the transactions of the gap. */
const BOTH_EVERY = 2;
/** Transactions in such a gap; the clients wait for the last. */
const GAP_TRANSACTIONS = 4;
/** Slots after which a transaction is confirmed. */
const CONFIRMED_AFTER = 4;
/** How long clients may still receive notifications at the end. */
const QUIET_MS = 45_000;

const say = sayUnless(options.json);
const now = (): string => new Date().toISOString();

const down = async (node: ProxyGroup): Promise<void> => (freeze ? node.freeze() : node.kill());
const up = async (node: ProxyGroup): Promise<void> => (freeze ? node.thaw() : node.revive());

function table(results: readonly CheckResult[]): string {
  const row = (client: string, kind: string, cells: readonly (string | number)[]): string =>
    [client.padEnd(11), kind.padEnd(10), ...cells.map((cell) => String(cell).padStart(9))].join(' ');
  return [
    row('client', 'kind', ['received', 'missed', 'doubled', 'odd']),
    ...results.map(({ client, kind, received, missed, doubled, odd }) =>
      row(client, kind, [received, missed.length, doubled.length, odd.length]),
    ),
  ].join('\n');
}

const { program, rpcPort, pubsubPort, request } = await startLocalnet(slotMs);
const nodes = [await ProxyGroup.start(rpcPort, pubsubPort), await ProxyGroup.start(rpcPort, pubsubPort)];
const lagMs = options.lag * slotMs;
nodes[1]!.proxies[1]!.delay(lagMs);
const service = await startService({
  timeoutMs: START_MS,
  configuration: '',
  arguments: nodes.flatMap((node) => [
    ...['--upstream', `http://127.0.0.1:${node.port(0)}/`],
    ...['--ws', `ws://127.0.0.1:${node.port(1)}/`],
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

// web3.js does not report when its subscriptions are active; earlier slots are not compared.
await sleep(3_000 + 4 * lagMs);
const begun = await slotOf('processed');
const endAt = performance.now() + minutes * 60_000;
const truth = new LedgerTruth(request, watched);
/** Missing at the end of a gap. */
const unfilled: string[] = [];
let isOver = false;
let isPaused = false;
let kills = 0;

async function sendTransactions(): Promise<void> {
  for (let next = performance.now(); !isOver; next += 1_000 / options['per-second']) {
    await sleep(Math.max(0, next - performance.now()));
    if (isPaused) continue;
    // Not awaited: a client may wait for a signature while no node is available.
    void traffic.send(expectAll).catch((fault: unknown) => say(`a transaction was not sent: ${fault}`));
  }
}

async function refreshBlockhash(): Promise<void> {
  while (!isOver) {
    await traffic.refresh();
    await sleep(2_000);
  }
}

async function waitForSlots(slots: number): Promise<void> {
  const until = (await slotOf('processed')) + slots;
  while ((await slotOf('processed')) < until) await sleep(50);
}

async function oneDown(turn: number): Promise<void> {
  const node = nodes[turn % nodes.length]!;
  const { connections } = node.proxies[1]!;
  say(
    `${now()} node ${(turn % nodes.length) + 1} ${freeze ? 'freezes' : 'dies'}, with ${connections} PubSub connections`,
  );
  await down(node);
  await sleep(downSeconds * 1_000);
  await up(node);
}

/** The last transaction is in the gap: only a client that fills the gap learns of it. */
async function bothDown(): Promise<void> {
  isPaused = true;
  await waitForSlots(CONFIRMED_AFTER);
  await traffic.refresh();
  const prepared: string[] = [];
  for (let left = GAP_TRANSACTIONS; left > 0; left--) {
    prepared.push(await traffic.prepare(left === 1 ? expectAll : null));
  }
  say(`${now()} both nodes are down`);
  await Promise.all(nodes.map(down));
  const upAt = performance.now() + downSeconds * 1_000;
  for (const transaction of prepared) await traffic.submit(transaction);
  await waitForSlots(CONFIRMED_AFTER);
  await sleep(Math.max(0, upAt - performance.now()));
  await Promise.all(nodes.map(up));
  await checkGap();
  isPaused = false;
}

/** Waits until every client has the last state; records those that do not get it. */
async function checkGap(): Promise<void> {
  const states = await traffic.states();
  const missed = (): string[] =>
    clients.flatMap(({ received }) =>
      received.flatMap((one) => truth.lastMissed(one, traffic.waitedFor, states)),
    );
  const until = performance.now() + QUIET_MS;
  while (performance.now() < until && missed().length > 0) await sleep(100);
  unfilled.push(...missed());
}

async function killNodes(): Promise<void> {
  for (let next = performance.now(), turn = 0; ; turn++) {
    next = Math.max(next + options['kill-every'] * 1_000, performance.now());
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    if (performance.now() >= endAt) return;
    kills++;
    if (turn % BOTH_EVERY === BOTH_EVERY - 1) await bothDown();
    else await oneDown(turn / BOTH_EVERY);
  }
}

const load = Promise.all([sendTransactions(), refreshBlockhash()]);
await killNodes();
isOver = true;
await load;

const stopped = await slotOf('processed');
while ((await slotOf('finalized')) < stopped + 2) await sleep(200);
await truth.read(begun, stopped);
const states = await traffic.states();
const received = clients.flatMap((client) => client.received);
const results = await truth.checkAll(received, traffic.waitedFor, states, QUIET_MS);
const faults = [
  ...results.filter(isFaulty).map(describeFaults),
  ...unfilled.map((one) => `missing at the end of a gap: ${one}`),
];
const whole = faults.length === 0;
if (options.json) {
  const result = { minutes, kills, slots: stopped - begun, verdicts: results, unfilled, whole };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
say(`\nnodes ${freeze ? 'froze' : 'died'} ${kills} times in ${stopped - begun} slots\n${table(results)}`);
for (const fault of faults) say(`FAULT ${fault}`);
say(whole ? 'No notification was missed or duplicated, no id changed.' : logTail(service));
for (const client of clients) client.close();
await service.stop();
await Promise.all(nodes.map((node) => node.close()));
await program.stop();
process.exit(whole ? 0 : 1);
