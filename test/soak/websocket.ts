import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js';
import { encodeBase58 } from '../../src/ledger/base58.ts';
import { TcpProxy } from '../chaos/tcp-proxy.ts';
import { startProgram, temporaryFolder } from '../service/program.ts';
import { startService } from '../service/start-service.ts';
import { KitClient } from './kit-client.ts';
import { asking, LedgerTruth, type Verdict, type Watched } from './ledger-truth.ts';
import { Web3jsClient } from './web3js-client.ts';
import { WireClient } from './wire-client.ts';

const USAGE = `Usage: npm run soak -- [options]

Runs the real program in front of two ways to one embedded ledger, with clients that subscribe to everything while
transactions flow, kills one way after the other, and compares what the clients heard with the ledger.
Ends with 1 when a message was missed or doubled, or the id of a subscription changed.

  --minutes N        how long (default 1)
  --kill-every N     seconds between two kills (default 20)
  --down N           seconds that a killed node stays away (default 5)
  --freeze           freeze nodes (half-open connections) instead of killing them
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
/** Every so many transactions, one is waited for by its signature. */
const WAITED_FOR_EACH = 20;
/** How long clients may still hear when nothing happens any more. */
const QUIET_MS = 45_000;

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${text}\n`);
};

/** One way to the ledger: its JSON-RPC and its PubSub. */
type Way = Readonly<{ rpc: TcpProxy; pubsub: TcpProxy }>;

const both = ({ rpc, pubsub }: Way): readonly TcpProxy[] => [rpc, pubsub];

async function down(way: Way): Promise<void> {
  for (const proxy of both(way)) {
    if (values.freeze) proxy.freeze();
    else await proxy.kill();
  }
}

async function up(way: Way): Promise<void> {
  for (const proxy of both(way)) {
    if (values.freeze) proxy.thaw();
    else await proxy.revive();
  }
}

/** Sends from one payer to several accounts; some transactions fail. */
class Traffic {
  readonly payer = Keypair.generate();
  readonly recipients = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  readonly waitedFor: string[] = [];
  readonly #ask: ReturnType<typeof asking>;
  #blockhash = '';
  #count = 0;

  constructor(ask: ReturnType<typeof asking>) {
    this.#ask = ask;
  }

  async fund(): Promise<void> {
    for (const { publicKey } of [this.payer, ...this.recipients]) {
      await this.#ask('requestAirdrop', [publicKey.toBase58(), 1_000 * LAMPORTS_PER_SOL]);
    }
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const answer = await this.#ask('getLatestBlockhash', [{ commitment: 'confirmed' }]);
    this.#blockhash = (answer as { value: { blockhash: string } }).value.blockhash;
  }

  /** @param expect - hears of the signatures that are waited for, before they are sent. */
  async send(expect: (signature: string) => Promise<void>): Promise<void> {
    const count = this.#count++;
    const recipient = this.recipients[count % this.recipients.length]!;
    // No two alike: equal transactions have one signature.
    const lamports = (count % 7 === 6 ? 100_000 * LAMPORTS_PER_SOL : 1_000) + count;
    const transfer = { fromPubkey: this.payer.publicKey, toPubkey: recipient.publicKey, lamports };
    const transaction = new Transaction({ recentBlockhash: this.#blockhash, feePayer: this.payer.publicKey });
    transaction.add(SystemProgram.transfer(transfer)).sign(this.payer);
    const signature = encodeBase58(transaction.signature!);
    if (count % WAITED_FOR_EACH === 0) {
      this.waitedFor.push(signature);
      await expect(signature);
    }
    const wire = transaction.serialize().toString('base64');
    await this.#ask('sendTransaction', [wire, { encoding: 'base64', skipPreflight: true }]);
  }
}

function table(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ client, kind, heard, missed, doubled, odd }) =>
    [
      client.padEnd(11),
      kind.padEnd(10),
      ...[heard, missed.length, doubled.length, odd.length].map((n) => String(n).padStart(8)),
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
const ask = asking(`http://127.0.0.1:${rpcPort}/`);
const ways: Way[] = [];
for (let i = 0; i < 2; i++) {
  ways.push({ rpc: await TcpProxy.start(rpcPort), pubsub: await TcpProxy.start(pubsubPort) });
}
const service = await startService({
  configuration: '',
  arguments: ways.flatMap(({ rpc, pubsub }) => [
    '--upstream',
    `http://127.0.0.1:${rpc.port}/`,
    '--ws',
    `ws://127.0.0.1:${pubsub.port}/`,
  ]),
});
const traffic = new Traffic(ask);
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
  (await ask('getSlot', [{ commitment }])) as number;

// web3.js does not say when it listens; what comes before is not compared.
await sleep(3_000);
const begun = await slotOf('processed');
const endAt = performance.now() + Number(values.minutes) * 60_000;
let flowing = true;
let kills = 0;

async function flow(): Promise<void> {
  for (let next = performance.now(); flowing; next += 1_000 / Number(values['per-second'])) {
    await sleep(Math.max(0, next - performance.now()));
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

async function unrest(): Promise<void> {
  for (let turn = 0; ; turn++) {
    await sleep(Math.max(0, Math.min(Number(values['kill-every']) * 1_000, endAt - performance.now())));
    if (performance.now() >= endAt) return;
    const way = ways[turn % ways.length]!;
    kills++;
    say(
      `${new Date().toISOString()} node ${(turn % ways.length) + 1} ${values.freeze ? 'freezes' : 'dies'}, with ${way.pubsub.connections} PubSub connections`,
    );
    await down(way);
    await sleep(Number(values.down) * 1_000);
    await up(way);
  }
}

const flows = Promise.all([flow(), blockhashes()]);
await unrest();
flowing = false;
await flows;

/** The state of the accounts that the traffic touched. */
async function states(): Promise<Map<string, string>> {
  const addresses = [traffic.payer, ...traffic.recipients].map(({ publicKey }) => publicKey.toBase58());
  const answer = await ask('getMultipleAccounts', [addresses, { commitment: 'confirmed' }]);
  const { value } = answer as { value: readonly { lamports: number }[] };
  return new Map(addresses.map((address, at) => [address, String(value[at]?.lamports)]));
}

const stopped = await slotOf('processed');
while ((await slotOf('finalized')) < stopped + 2) await sleep(200);
const truth = new LedgerTruth(ask, watched);
await truth.read(begun, stopped);
const after = await states();
const judged = (): Verdict[] =>
  clients.flatMap(({ heard }) => heard.map((one) => truth.judge(one, traffic.waitedFor, after)));
const faulty = ({ missed, doubled, odd }: Verdict): boolean =>
  missed.length + doubled.length + odd.length > 0;
for (const until = performance.now() + QUIET_MS; performance.now() < until && judged().some(faulty); ) {
  await sleep(500);
}
const verdicts = judged();
const faults = verdicts.filter(faulty);
const result = {
  minutes: Number(values.minutes),
  kills,
  slots: stopped - begun,
  verdicts,
  whole: faults.length === 0,
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
say(faults.length === 0 ? 'Nothing was missed, nothing came twice, no id changed.' : 'FAULTS');
if (faults.length > 0)
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
process.exit(faults.length === 0 ? 0 : 1);
