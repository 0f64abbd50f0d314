import { setTimeout as sleep } from 'node:timers/promises';
import { commitments } from '../../../src/protocol/commitment.ts';
import { TcpProxy } from '../../chaos/tcp-proxy.ts';
import { startProgram, temporaryFolder } from '../../service/program.ts';
import { startService } from '../../service/start-service.ts';
import { createSendRequest, type SendRequest } from '../ledger-truth.ts';
import { Traffic } from '../traffic.ts';
import { Gauge, sparkline } from './gauge.ts';
import { checkSlot, LedgerListener } from './ledger-listener.ts';

export type LedgerSoakOptions = Readonly<{
  minutes: number;
  /** Seconds from one kill to the next; 0 kills none. */
  killEvery: number;
  /** Seconds that a way stays away. */
  down: number;
  /** Freezes ways and does not cut them. */
  freeze: boolean;
  /** Transactions. */
  perSecond: number;
  slotMs: number;
  say: (text: string) => void;
}>;

/** Each so many kills both ways are away at once. */
const BOTH_EACH = 3;
/** Until all that streams want is told. */
const SETTLED_MS = 3_000;
/** How long streams may still hear of slots that are over. */
const QUIET_MS = 30_000;
const SHOWN_MAX = 20;

/** One way to the ledger: its JSON-RPC and its Geyser. */
type Way = readonly TcpProxy[];

async function startLedger(slotMs: number) {
  const fixed = [
    'localnet',
    '--ledger',
    temporaryFolder('soak-geyser'),
    '--rpc-port',
    '0',
    '--geyser-port',
    '0',
  ];
  const program = startProgram([...fixed, '--slot-ms', String(slotMs), '--json']);
  const [line] = await program.said(/^\{"event":"ready".*\}$/m);
  const { rpcPort, grpcPort } = JSON.parse(line) as { rpcPort: number; grpcPort: number };
  const ways: Way[] = [];
  for (let i = 0; i < 2; i++) ways.push([await TcpProxy.start(rpcPort), await TcpProxy.start(grpcPort)]);
  return { program, request: createSendRequest(`http://127.0.0.1:${rpcPort}/`), grpcPort, ways };
}

async function away(ways: readonly Way[], { down, freeze }: LedgerSoakOptions): Promise<void> {
  for (const proxy of ways.flat()) {
    if (freeze) proxy.freeze();
    else await proxy.kill();
  }
  await sleep(down * 1_000);
  for (const proxy of ways.flat()) {
    if (freeze) proxy.thaw();
    else await proxy.revive();
  }
}

/** Kills ways in turn until the time is over. @returns how often. */
async function unrest(ways: readonly Way[], options: LedgerSoakOptions): Promise<number> {
  const { minutes, killEvery, say, freeze, down } = options;
  const begun = performance.now();
  const endAt = begun + minutes * 60_000;
  const every = killEvery === 0 ? Number.POSITIVE_INFINITY : killEvery * 1_000;
  for (let kills = 0; ; kills++) {
    const next = begun + (kills + 1) * every;
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    if (performance.now() + down * 1_000 >= endAt) return kills;
    const both = kills % BOTH_EACH === BOTH_EACH - 1;
    const which = both ? ways : [ways[kills % ways.length]!];
    say(`${both ? 'both ways' : `way ${(kills % ways.length) + 1}`} ${freeze ? 'frozen' : 'cut'}`);
    await away(which, options);
  }
}

/** Sends transactions until it is told to stop. */
function flow(traffic: Traffic, { perSecond, say }: LedgerSoakOptions): () => void {
  const send = (): void =>
    void traffic.send(async () => {}).catch((fault: unknown) => say(`a transaction was not sent: ${fault}`));
  const timers = [
    setInterval(send, 1_000 / perSecond),
    setInterval(() => void traffic.refresh().catch(() => {}), 2_000),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** Whether the undisturbed stream itself is what the ledger says of its blocks. */
export async function checkTruth(
  truth: LedgerListener,
  slots: readonly number[],
  request: SendRequest,
): Promise<string[]> {
  const wrong: string[] = [];
  const blocks = (await request('getBlocks', [slots[0], slots.at(-1)])) as number[];
  if (String(blocks) !== String(slots)) wrong.push('the ledger has other blocks than its own Geyser tells');
  for (const slot of slots) {
    const config = { transactionDetails: 'signatures', rewards: false, maxSupportedTransactionVersion: 0 };
    const { signatures } = (await request('getBlock', [slot, config])) as { signatures: readonly string[] };
    const reported = truth.slots.get(slot)!.transactions;
    if (String([...signatures].sort()) !== String([...reported].sort())) {
      wrong.push(`block ${slot} has other transactions than its Geyser tells`);
    }
  }
  return wrong;
}

/** Holds what a stream told against what an undisturbed one did, in a stretch of slots. */
export function checkListener(
  listener: LedgerListener,
  truth: LedgerListener,
  slots: readonly number[],
): string[] {
  const wrong = listener.ended === null ? [] : [`${listener.name} ended: ${listener.ended}`];
  const isIn = (slot: number): boolean => slot >= slots[0]! && slot <= slots.at(-1)!;
  if (String(listener.order.filter(isIn)) !== String(slots)) {
    wrong.push(`${listener.name} heard other slots, or in another order`);
  }
  for (const slot of slots) {
    const incoming = listener.slots.get(slot);
    const faults =
      incoming === undefined
        ? ['was not heard of']
        : checkSlot(incoming, truth.slots.get(slot)!, listener.commitment, listener.name === 'blocks');
    wrong.push(...faults.map((fault) => `${listener.name}: slot ${slot} ${fault}`));
  }
  return wrong;
}

/** Waits until all have heard that the slot is finalized, or for as long as they may need. */
export async function untilFinal(hearers: readonly LedgerListener[], slot: number): Promise<void> {
  const has = ({ slots }: LedgerListener): boolean =>
    slots.get(slot)?.statuses.includes('finalized') === true;
  for (const until = performance.now() + QUIET_MS; performance.now() < until && !hearers.every(has); ) {
    await sleep(100);
  }
}

/**
 * Runs the real program in front of two ways to the Geyser of one embedded ledger, and compares what its streams told,
 * at every commitment, with what the ledger told itself.
 * @returns what is wrong; none where nothing is.
 */
export async function soakLedger(options: LedgerSoakOptions): Promise<string[]> {
  const { program, request, grpcPort, ways } = await startLedger(options.slotMs);
  const service = await startService({
    configuration: '',
    arguments: ways.flatMap(([rpc, geyser]) => [
      ...['--upstream', `http://127.0.0.1:${rpc!.port}/`],
      ...['--ws', 'off', '--grpc', `http://127.0.0.1:${geyser!.port}`],
    ]),
  });
  const key = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
  const behind = { url: service.ready.grpcUrl, headers: { 'x-token': key } };
  const truth = new LedgerListener({
    name: 'truth',
    url: `http://127.0.0.1:${grpcPort}`,
    commitment: 'processed',
  });
  const hearers = [
    ...commitments.map((commitment) => new LedgerListener({ ...behind, name: commitment, commitment })),
    new LedgerListener({ ...behind, name: 'blocks', commitment: 'confirmed', ofBlocks: true }),
  ];
  const traffic = new Traffic(request);
  await traffic.fund();
  const stopFlow = flow(traffic, options);
  await sleep(SETTLED_MS);
  const begun = truth.order.at(-1)! + 1;
  const gauge = new Gauge(service.process.pid!);
  const kills = await unrest(ways, options);
  stopFlow();
  const stopped = truth.order.at(-1)!;
  await untilFinal([truth, ...hearers], stopped);
  gauge.stop();
  const slots = truth.order.filter((slot) => slot >= begun && slot <= stopped);
  const wrong = [
    ...(await checkTruth(truth, slots, request)),
    ...hearers.flatMap((listener) => checkListener(listener, truth, slots)),
  ];
  report(options, { kills, slots: slots.length, truth, hearers, gauge });
  for (const text of wrong.slice(0, SHOWN_MAX)) options.say(text);
  const logged = service
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":'));
  if (wrong.length > 0) options.say(logged.slice(-40).join('\n'));
  for (const listener of [truth, ...hearers]) listener.close();
  await service.stop();
  await Promise.all(ways.flat().map((proxy) => proxy.close()));
  await program.stop();
  return wrong;
}

type Figures = Readonly<{
  kills: number;
  slots: number;
  truth: LedgerListener;
  hearers: readonly LedgerListener[];
  gauge: Gauge;
}>;

function report({ say, freeze }: LedgerSoakOptions, { kills, slots, truth, hearers, gauge }: Figures): void {
  const count = (part: 'transactions' | 'writes'): number =>
    [...truth.slots.values()].reduce((sum, slot) => sum + slot[part].length, 0);
  say(`${slots} slots, ${count('transactions')} transactions, ${count('writes')} writes of accounts`);
  say(`ways were ${freeze ? 'frozen' : 'cut'} ${kills} times`);
  for (const { name, received } of [truth, ...hearers]) say(`${name}: ${received} messages`);
  const { memoryMib, cpuShare } = gauge;
  say(
    `memory of the gateway ${sparkline(memoryMib)} ${Math.min(...memoryMib)} to ${Math.max(...memoryMib)} MiB; ${(cpuShare * 100).toFixed(0)} % of a core`,
  );
}
