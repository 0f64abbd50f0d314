import { setTimeout as sleep } from 'node:timers/promises';
import { logTail, runningNode, startLocalnet } from '../programs/localnet.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { startInFront, takeDownInTurn } from '../programs/outages.ts';
import { Pace } from '../programs/pace.ts';
import { openKit, openWeb3js, openWire } from './clients.ts';
import { type CheckResult, describeFaults, isFaulty, LedgerTruth } from './ledger-truth.ts';
import { Traffic } from './traffic.ts';

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
  --rpc-port N       instead of the embedded ledger, use a node with a faucet that runs on this machine; its PubSub port
                     is the next one
  --second-rpc-port N  with --rpc-port: another node of the same cluster, to be used as the second node
  --json             print the result as JSON
`;

const options = readOptions(USAGE, {
  ...{ minutes: 1, 'kill-every': 20, down: 5, freeze: false, lag: 0, 'per-second': 20, 'slot-ms': 400 },
  ...{ json: false, 'rpc-port': 0, 'second-rpc-port': 0 },
});
const { minutes, down, freeze, 'slot-ms': slotMs, 'kill-every': every, 'rpc-port': nodePort } = options;

/** Transactions sent while both nodes are down; the clients wait for the last one. */
const GAP_TRANSACTIONS = 4;
/** Slots after which a transaction is confirmed. */
const CONFIRMED_AFTER = 4;
/** How long to wait for the last notifications at the end. */
const QUIET_MS = 45_000;
const IN_FLIGHT_MAX = 2_000;

const say = logUnless(options.json);

function table(results: readonly CheckResult[]): string {
  const row = (client: string, kind: string, cells: readonly (string | number)[]): string =>
    [client.padEnd(11), kind.padEnd(12), ...cells.map((cell) => String(cell).padStart(9))].join(' ');
  return [
    row('client', 'kind', ['received', 'missed', 'doubled', 'odd']),
    ...results.map(({ client, kind, received, missed, doubled, odd }) =>
      row(client, kind, [received, missed.length, doubled.length, odd.length]),
    ),
  ].join('\n');
}

const node = nodePort === 0 ? await startLocalnet(slotMs) : runningNode(nodePort, 0);
const { rpcPort, pubsubPort, request } = node;
const second = options['second-rpc-port'] === 0 ? node : runningNode(options['second-rpc-port'], 0);
const { service, nodes, stop } = await startInFront(
  [
    [rpcPort, pubsubPort],
    [second.rpcPort, second.pubsubPort],
  ],
  'ws',
);
const lagMs = options.lag * slotMs;
nodes[1]!.proxies[1]!.delay(lagMs);
const traffic = new Traffic(request);
await traffic.fund();
const { watched } = traffic;
const wsUrl = `${service.ready.wsUrl}?api-key=${service.key}`;
const clients = [
  await openWire(wsUrl, watched),
  openWeb3js(`${service.ready.rpcUrl}?api-key=${service.key}`, wsUrl, watched),
  await openKit(wsUrl, watched),
];

const expectAll = async (signature: string): Promise<void> =>
  void (await Promise.all(clients.map((client) => client.expect(signature))));

const slotOf = async (commitment: string): Promise<number> =>
  (await request('getSlot', [{ commitment }])) as number;

// web3.js does not report when its subscriptions are active; earlier slots are not compared.
await sleep(3_000 + 4 * lagMs);
const begun = await slotOf('processed');
const truth = new LedgerTruth(request, watched);
/** Notifications that are missing at the end of a gap. */
const unfilled: string[] = [];
let isPaused = false;

// A client may wait for a signature while no node is available.
const act = async (): Promise<void> => {
  if (!isPaused)
    await traffic.send(expectAll).catch((fault: unknown) => say(`a transaction was not sent: ${fault}`));
};
const pace = new Pace({ perSecond: options['per-second'], inFlightMax: IN_FLIGHT_MAX, act });
const stopRefreshing = traffic.refreshRepeatedly();

async function waitForSlots(slots: number): Promise<void> {
  const until = (await slotOf('processed')) + slots;
  while ((await slotOf('processed')) < until) await sleep(50);
}

let prepared: string[] = [];

/** Waits until every client has the last state, and records what is missing after the timeout. */
async function checkGap(): Promise<void> {
  const states = await traffic.states();
  const missed = (): string[] =>
    clients.flatMap(({ received }) =>
      received.flatMap((one) => truth.lastMissed(one, traffic.waitedFor, states)),
    );
  const until = performance.now() + QUIET_MS;
  while (performance.now() < until && missed().length > 0) await sleep(100);
  unfilled.push(...missed());
  isPaused = false;
}

const kills = await takeDownInTurn(nodes, {
  ...{ minutes, every, down, freeze, allEvery: 2, lastBeforeEndMs: 0 },
  onDown: (which) => say(`${which} ${freeze ? 'frozen' : 'killed'}`),
  beforeAllDown: async () => {
    isPaused = true;
    await waitForSlots(CONFIRMED_AFTER);
    await traffic.refresh();
    prepared = [];
    for (let left = GAP_TRANSACTIONS; left > 0; left--)
      prepared.push(await traffic.prepare(left === 1 ? expectAll : null));
  },
  // The last transaction is in the gap, so a client receives it only if the gap is filled.
  whileAllDown: async () => {
    for (const transaction of prepared) await traffic.submit(transaction);
    await waitForSlots(CONFIRMED_AFTER);
  },
  afterAllDown: checkGap,
});
await pace.stop();
stopRefreshing();

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
const result = { minutes, kills, slots: stopped - begun, verdicts: results, unfilled, whole };
if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(`nodes went down ${kills} times in ${stopped - begun} slots\n${table(results)}`);
for (const fault of faults) say(`FAULT ${fault}`);
say(whole ? 'No notification was missed or duplicated, no id changed.' : logTail(service));
for (const client of clients) client.close();
await stop();
await node.stop();
process.exit(whole ? 0 : 1);
