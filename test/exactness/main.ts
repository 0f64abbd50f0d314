import { clickHouseProgram, startClickHouse } from '../control/clickhouse-server.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { startService } from '../service/start-service.ts';
import { totalOf } from './client-counts.ts';
import { isEqual } from './compare.ts';
import { runMixedCalls } from './run-mixed-calls.ts';

const USAGE = `Usage: npm run exactness -- [options]

Makes mixed calls (JSON-RPC, batches, errors, REST, WebSocket, gRPC) for several customers, and compares what their
clients count with the totals of every page. Exits with 1 if a total differs 5 s after the last call.

  --calls N       at least so many requests (default 10000)
  --customers N   (default 20)
  --clickhouse    store the request log and usage in ClickHouse, which must be installed
  --json          print the comparisons as JSON
`;
const options = readOptions(USAGE, { calls: 10_000, customers: 20, clickhouse: false, json: false });
const say = sayUnless(options.json);

const clickHouse = options.clickhouse
  ? await startClickHouse(clickHouseProgram ?? 'clickhouse-server')
  : null;
const stored =
  clickHouse === null ? '' : `[store]\nclickhouse_url = "${await clickHouse.createDatabase()}"\n`;
const service = await startService({ configuration: `[localnet]\nslot_ms = 50\n${stored}` });
const { counts, comparisons, delayMs } = await runMixedCalls(service, options, true);
await service.stop();
await clickHouse?.destroy();

const requests = totalOf(counts.by('customer'));
const pages = new Map<string, { totals: number; counted: number; shown: number; wrong: number }>();
for (const comparison of comparisons) {
  const page = pages.get(comparison.page) ?? { totals: 0, counted: 0, shown: 0, wrong: 0 };
  page.totals += Math.max(1, Object.keys(comparison.counted).length);
  page.counted += totalOf(comparison.counted);
  page.shown += totalOf(comparison.shown);
  if (!isEqual(comparison)) page.wrong++;
  pages.set(comparison.page, page);
}
say(`${requests} requests and ${counts.messagesOf({})} messages of ${options.customers} customers; `);
say(`the totals were read ${(delayMs / 1_000).toFixed(1)} s after the last call.\n`);
say('| page | totals | counted | shown | wrong |');
say('|---|--:|--:|--:|--:|');
for (const [page, { totals, counted, shown, wrong }] of pages)
  say(`| ${page} | ${totals} | ${counted} | ${shown} | ${wrong} |`);
const wrong = comparisons.filter((comparison) => !isEqual(comparison));
for (const comparison of wrong.slice(0, 10)) say(JSON.stringify(comparison));
if (options.json) process.stdout.write(`${JSON.stringify({ requests, delayMs, comparisons })}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
