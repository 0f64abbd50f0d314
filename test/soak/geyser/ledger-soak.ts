import { setTimeout as sleep } from 'node:timers/promises';
import { commitments } from '../../../src/protocol/commitment.ts';
import { ProxyGroup } from '../../chaos/proxy-group.ts';
import { logTail, START_MS, startLocalnet } from '../../programs/localnet.ts';
import { Gauge } from '../../programs/process-stats.ts';
import { startService } from '../../service/start-service.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { takeDownInTurn } from '../outages.ts';
import { Traffic } from '../traffic.ts';
import { checkSlot, LedgerListener } from './ledger-listener.ts';

export type LedgerSoakOptions = Readonly<{
  minutes: number;
  /** Seconds between kills; 0 for none. */
  killEvery: number;
  /** Seconds that a node is down. */
  down: number;
  /** Freezes nodes instead of killing them. */
  freeze: boolean;
  /** Transactions. */
  perSecond: number;
  slotMs: number;
  say: (text: string) => void;
}>;

/** Until all subscriptions are active. */
const SETTLED_MS = 3_000;
/** How long streams may still receive updates at the end. */
const QUIET_MS = 30_000;
const SHOWN_MAX = 20;

/** Sends transactions until the returned function is called. */
function sendTransactions(traffic: Traffic, { perSecond, say }: LedgerSoakOptions): () => void {
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

/** Compares the undisturbed stream with the blocks of the ledger. */
export async function checkTruth(
  truth: LedgerListener,
  slots: readonly number[],
  request: SendRequest,
): Promise<string[]> {
  const wrong: string[] = [];
  const blocks = (await request('getBlocks', [slots[0], slots.at(-1)])) as number[];
  if (String(blocks) !== String(slots)) wrong.push('blocks of the ledger and of its Geyser differ');
  for (const slot of slots) {
    const config = { transactionDetails: 'signatures', rewards: false, maxSupportedTransactionVersion: 0 };
    const { signatures } = (await request('getBlock', [slot, config])) as { signatures: readonly string[] };
    const reported = truth.slots.get(slot)!.transactions;
    if (String([...signatures].sort()) !== String([...reported].sort())) {
      wrong.push(`transactions of block ${slot} and of its Geyser differ`);
    }
  }
  return wrong;
}

/** Compares a stream with the undisturbed one in a range of slots. */
export function checkListener(
  listener: LedgerListener,
  truth: LedgerListener,
  slots: readonly number[],
): string[] {
  const wrong = listener.ended === null ? [] : [`${listener.name} ended: ${listener.ended}`];
  const isIn = (slot: number): boolean => slot >= slots[0]! && slot <= slots.at(-1)!;
  if (String(listener.order.filter(isIn)) !== String(slots)) {
    wrong.push(`${listener.name} received other slots, or in another order`);
  }
  for (const slot of slots) {
    const incoming = listener.slots.get(slot);
    const faults =
      incoming === undefined
        ? ['was not received']
        : checkSlot(incoming, truth.slots.get(slot)!, listener.commitment, listener.name === 'blocks');
    wrong.push(...faults.map((fault) => `${listener.name}: slot ${slot} ${fault}`));
  }
  return wrong;
}

/** Waits until all streams received that the slot is finalized, for a limited time. */
export async function untilFinal(listeners: readonly LedgerListener[], slot: number): Promise<void> {
  const has = ({ slots }: LedgerListener): boolean =>
    slots.get(slot)?.statuses.includes('finalized') === true;
  for (const until = performance.now() + QUIET_MS; performance.now() < until && !listeners.every(has); ) {
    await sleep(100);
  }
}

/**
 * Runs the program in front of two nodes with the Geyser of one embedded ledger, and compares its streams at every
 * commitment with the ledger.
 * @returns faults.
 */
export async function soakLedger(options: LedgerSoakOptions): Promise<string[]> {
  const { minutes, killEvery, down, freeze, say } = options;
  const { program, request, rpcPort, grpcPort } = await startLocalnet(options.slotMs);
  const proxies = [await ProxyGroup.start(rpcPort, grpcPort), await ProxyGroup.start(rpcPort, grpcPort)];
  const service = await startService({
    timeoutMs: START_MS,
    configuration: '',
    arguments: proxies.flatMap((node) => [
      ...['--upstream', `http://127.0.0.1:${node.port(0)}/`],
      ...['--ws', 'off', '--grpc', `http://127.0.0.1:${node.port(1)}`],
    ]),
  });
  const key = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
  const behind = { url: service.ready.grpcUrl, headers: { 'x-token': key } };
  const truth = new LedgerListener({
    name: 'truth',
    url: `http://127.0.0.1:${grpcPort}`,
    commitment: 'processed',
  });
  const listeners = [
    ...commitments.map((commitment) => new LedgerListener({ ...behind, name: commitment, commitment })),
    new LedgerListener({ ...behind, name: 'blocks', commitment: 'confirmed', ofBlocks: true }),
  ];
  const traffic = new Traffic(request);
  await traffic.fund();
  const stopSending = sendTransactions(traffic, options);
  await sleep(SETTLED_MS);
  const begun = truth.order.at(-1)! + 1;
  const gauge = new Gauge(service.process.pid!);
  const nodes = proxies.map((node) => ({
    down: async () => (freeze ? node.freeze() : node.kill()),
    up: async () => (freeze ? node.thaw() : node.revive()),
  }));
  const kills = await takeDownInTurn(nodes, {
    ...{ minutes, every: killEvery, down, lastBeforeEndMs: down * 1_000 },
    onDown: (which) => say(`${which} ${freeze ? 'frozen' : 'killed'}`),
  });
  stopSending();
  const stopped = truth.order.at(-1)!;
  await untilFinal([truth, ...listeners], stopped);
  gauge.stop();
  const slots = truth.order.filter((slot) => slot >= begun && slot <= stopped);
  const wrong = [
    ...(await checkTruth(truth, slots, request)),
    ...listeners.flatMap((listener) => checkListener(listener, truth, slots)),
  ];
  const count = (part: 'transactions' | 'writes'): number =>
    [...truth.slots.values()].reduce((sum, slot) => sum + slot[part].length, 0);
  say(`${slots.length} slots, ${count('transactions')} transactions, ${count('writes')} account writes`);
  say(`nodes were ${freeze ? 'frozen' : 'killed'} ${kills} times`);
  for (const { name, received } of [truth, ...listeners]) say(`${name}: ${received} messages`);
  say(gauge.summary);
  for (const text of wrong.slice(0, SHOWN_MAX)) say(text);
  if (wrong.length > 0) say(logTail(service));
  for (const listener of [truth, ...listeners]) listener.close();
  await service.stop();
  await Promise.all(proxies.map((node) => node.close()));
  await program.stop();
  return wrong;
}
