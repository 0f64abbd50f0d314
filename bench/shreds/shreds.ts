import { setTimeout as sleep } from 'node:timers/promises';
import { address } from '../../src/solana/address.ts';
import { startService } from '../../test/service/start-service.ts';
import { createSendRequest } from '../../test/soak/ledger-truth.ts';
import { Traffic } from '../../test/soak/traffic.ts';
import { type BenchOptions, publish, type Setting, settingOf } from '../results.ts';
import { ArrivalOrder } from './arrivals.ts';

const TRANSACTIONS = 1_000;
const PER_SECOND = 200;
const WAIT_MS = 15_000;
const SHARES = [0, 1, 5, 25, 50, 75, 95, 99, 100] as const;

type Lead = Readonly<{
  transactions: number;
  earlier: number;
  missing: number;
  milliseconds: readonly number[];
}>;
type Summary = Setting & Readonly<{ lead: Lead }>;

const share = (sorted: readonly number[], percent: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))] ?? Number.NaN;

async function measure(): Promise<Lead> {
  const service = await startService({ configuration: '[localnet]\nslot_ms = 400\n' });
  const keyOf = (product: 'grpc' | 'fs'): string =>
    service.ready.keys.find((key) => key.product === product)?.key ?? '';
  const request = createSendRequest(`${service.ready.rpcUrl}?api-key=${service.key}`);
  const traffic = new Traffic(request);
  await traffic.fund();
  const payer = address(traffic.payer.publicKey.toBase58());
  const { grpcUrl } = service.ready;
  const order = new ArrivalOrder(grpcUrl ?? '');
  const standard = await order.open(keyOf('grpc'), payer);
  const shreds = await order.open(keyOf('fs'), payer);
  const refreshing = setInterval(() => void traffic.refresh(), 5_000);
  const sending: Promise<void>[] = [];
  for (let sent = 0; sent < TRANSACTIONS; sent++) {
    sending.push(traffic.submit(await traffic.prepare(null)));
    await sleep(1_000 / PER_SECOND);
  }
  clearInterval(refreshing);
  await Promise.all(sending);
  for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(100)) {
    if (standard.size >= TRANSACTIONS && shreds.size >= TRANSACTIONS) break;
  }
  order.close();
  await service.stop();
  const both = [...standard].flatMap(([signature, notified]) => {
    const before = shreds.get(signature);
    return before === undefined
      ? []
      : [{ lead: notified.at - before.at, isFirst: before.nth < notified.nth }];
  });
  const milliseconds = both.map(({ lead }) => Math.round(lead * 1_000) / 1_000).sort((a, b) => a - b);
  return {
    transactions: TRANSACTIONS,
    earlier: both.filter(({ isFirst }) => isFirst).length,
    missing: TRANSACTIONS - both.length,
    milliseconds,
  };
}

/** A bar for each millisecond. */
function histogram(milliseconds: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const lead of milliseconds) {
    const bucket = Math.floor(Math.min(lead, 40));
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  const top = Math.max(...counts.values());
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([bucket, count]) => {
      const label = bucket >= 40 ? '40+' : `${bucket}-${bucket + 1}`;
      return `${label.padStart(7)} ms ${String(count).padStart(5)} ${'█'.repeat(Math.ceil((count / top) * 50))}`;
    })
    .join('\n');
}

function render({ lead, machine, node, commit }: Summary): string {
  const shares = SHARES.map((percent) => `p${percent} ${share(lead.milliseconds, percent).toFixed(2)}`).join(
    '  ',
  );
  return [
    '',
    `${lead.transactions} transactions at ${PER_SECOND} a second; ${machine}; ${node}; ${commit}`,
    '',
    `earlier on the shred stage: ${lead.earlier} of ${lead.transactions}; missing on one: ${lead.missing}`,
    `lead in ms: ${shares}`,
    '',
    histogram(lead.milliseconds),
    '',
  ].join('\n');
}

/**
 * `npm run bench -- shreds`: how much earlier a transaction of the embedded ledger arrives on the shred stage than on
 * the standard stream, both read by one client over one connection. Exits with 1 if any does not arrive earlier.
 */
export async function runShredsBench(options: BenchOptions): Promise<void> {
  const summary: Summary = { ...settingOf('npm run bench -- shreds'), lead: await measure() };
  publish('shreds', summary, options, render);
  if (summary.lead.earlier < TRANSACTIONS) process.exitCode = 1;
}
