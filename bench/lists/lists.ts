import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startLocalnet } from '../../test/programs/localnet.ts';
import { startService } from '../../test/service/start-service.ts';
import { publish, type Setting, settingOf } from '../results.ts';
import { type FilledStore, openFilledStore, type StoreKind, storeKinds } from './databases.ts';
import { type Customer, type ListCall, listCalls } from './list-calls.ts';
import { ListClient, type MeasuredList } from './measure.ts';
import { populationOf, type Sizes } from './population.ts';

/** Goal of each list at p95. */
const TARGET_MS = 300;
const CALLS_MIN = 20;
const SLOT_MS = 400;

export type ListsOptions = Readonly<{
  sizes: Sizes;
  store: string;
  /** Keeps the data of each kind of store for the next run; null: deletes it. */
  folder: string | null;
  /** Regular expression: measures only lists whose name matches it. */
  only: string;
  rounds: number;
  record: boolean;
  json: boolean;
}>;

type Summary = Setting &
  Readonly<{
    store: StoreKind;
    sizes: Sizes;
    calls: number;
    targetMs: number;
    lists: readonly MeasuredList[];
  }>;

type Entry = Readonly<{ id: string; signature: string | null }>;

/** Customers that are measured: the built-in one, a large one and a medium one, all with log entries. */
async function customersOf(client: ListClient, { sizes, filledAt }: FilledStore, tokens: readonly string[]) {
  const { customerIds, keyIds } = populationOf(sizes);
  const customers: Customer[] = [];
  for (const [nth, at] of measuredCustomers(sizes).entries()) {
    const id = customerIds[at]!;
    const keys = keyIds[at]!;
    const path = `/customers/${id}/logs?limit=1000&from=0&to=${filledAt}`;
    const { items } = await client.get<{ items: Entry[] }>({ path, token: tokens[nth]! });
    customers.push({
      ...{ id, token: tokens[nth]!, label: `${keys.length} keys` },
      ...{ keyId: keys[0] ?? 'xxxxxxxx', keyPrefix: (keys[0] ?? 'xxx').slice(0, 3) },
      entryId: items[items.length >> 1]?.id ?? '0'.repeat(28),
      signature: items.find(({ signature }) => signature !== null)?.signature ?? '1'.repeat(87),
    });
  }
  return customers;
}

const measuredCustomers = ({ customers }: Sizes): number[] => [0, 1, Math.floor(customers / 100)];

/** Measures every list over HTTP at the real program. */
async function measure(
  filled: FilledStore,
  calls: number,
  isMeasured: (call: ListCall) => boolean,
): Promise<MeasuredList[]> {
  const { customerIds } = populationOf(filled.sizes);
  const { operator, customers: tokens } = await filled.createTokens(
    measuredCustomers(filled.sizes).map((at) => customerIds[at]!),
  );
  // The list of transactions reads their statuses from a node.
  const ledger = await startLocalnet(SLOT_MS);
  const service = await startService({
    dataDir: filled.dataDir,
    timeoutMs: 120_000,
    configuration: `${filled.configuration}
[request_log]
retention_hours = 8_760
[[upstream]]
name = "ledger"
url = "http://127.0.0.1:${ledger.rpcPort}"
`,
  });
  try {
    const client = new ListClient(service.ready.url);
    const customers = await customersOf(client, filled, tokens);
    const lists = listCalls(operator, customers, filled.filledAt).filter(isMeasured);
    const measured: MeasuredList[] = [];
    for (const list of lists) {
      const result = await client.measure(list, calls).catch((error: Error) => error.message);
      if (typeof result !== 'string') measured.push(result);
      // Shown at once, because a large database takes minutes.
      if (typeof result === 'string') process.stderr.write(`${list.name}: ${result}\n`);
      else if (result.p95 > TARGET_MS) process.stderr.write(`${lineOf(result)}\n`);
    }
    return measured.sort((a, b) => b.p95 - a.p95);
  } finally {
    await service.stop();
    await ledger.program.stop();
  }
}

const column = (value: number): string => value.toFixed(1).padStart(8);

const lineOf = ({ name, p50, p95, max, cpu, items }: MeasuredList): string =>
  `${[p50, p95, max, cpu].map(column).join('')}  ${String(items ?? '').padStart(5)} ${p95 > TARGET_MS ? '!' : ' '} ${name}`;

function render({ store, sizes, calls, targetMs, lists, ...setting }: Summary): string {
  const { keys, customers, logRows } = sizes;
  const count = (value: number): string => value.toLocaleString('en');
  const slow = lists.filter(({ p95 }) => p95 > targetMs).length;
  const lines = [
    `${store}: ${count(keys)} keys, ${count(customers)} customers, ${count(logRows)} entries of the request log`,
    `${calls} calls per list, milliseconds; ${setting.machine}; ${setting.node}; ${setting.commit}`,
    '     p50     p95     max     CPU  items   list',
    ...lists.map(lineOf),
    `${slow} of ${lists.length} lists above ${targetMs} ms at p95`,
  ];
  return `${lines.join('\n')}\n`;
}

function commandOf({ sizes, store, folder }: ListsOptions): string {
  const { keys, customers, logRows } = sizes;
  const size = `--keys ${keys} --customers ${customers} --log-rows ${logRows}`;
  return `npm run bench -- lists --store ${store} ${size}${folder === null ? '' : ` --folder ${folder}`}`;
}

/** Measures every list of the control API with a large database. */
export async function runListsBench(options: ListsOptions): Promise<void> {
  const { sizes, rounds } = options;
  const store = storeKinds.find((kind) => kind === options.store);
  if (store === undefined) throw new Error(`--store must be one of ${storeKinds.join(', ')}`);
  const folder = options.folder === null ? null : join(options.folder, store);
  if (folder !== null && !existsSync(folder)) mkdirSync(folder, { recursive: true });
  const calls = Math.max(CALLS_MIN, rounds);
  const only = new RegExp(options.only);
  process.stderr.write('filling a database …\n');
  const filled = await openFilledStore(store, folder, sizes);
  process.stderr.write('measuring …\n');
  try {
    const lists = await measure(
      filled,
      calls,
      ({ name, isAnalytics }) => only.test(name) && (isAnalytics || store !== 'clickhouse'),
    );
    const summary = {
      ...settingOf(commandOf(options)),
      ...{ store, sizes: filled.sizes, calls, targetMs: TARGET_MS, lists },
    };
    publish('lists', summary, options, render);
  } finally {
    await filled.stop();
  }
}
