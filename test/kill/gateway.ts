import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

const USAGE = `Usage: npm run kill:gateway -- [--kills N] [options]

Kills a gateway under load (kill -9), restarts it, and compares stored usage with the counts of the load generator: no
call is missing that was answered more than a flush interval before the kill, and none is counted that was not sent.
Keys and accounts are created by its API in the meantime: no acknowledged one is lost, nor its audit log entry. On
PostgreSQL the database is down at every fourth kill.

  --kills N       per store (default 5)
  --store NAME    sqlite, postgres or both (default both)
  --flush-ms N    keys.usage_flush_interval_ms (default 500)
  --grace-ms N    additional time for a flush to be stored (default 250); more on a busy machine
  --json          print the result as JSON
`;

const options = readOptions(USAGE, {
  kills: 5,
  store: 'both',
  'flush-ms': 500,
  'grace-ms': 250,
  json: false,
});
const { kills, 'flush-ms': flushMs } = options;
const boundMs = flushMs + options['grace-ms'];

const say = sayUnless(options.json);
function broken(reports: readonly KillReport[]): string[] {
  return reports.flatMap(({ kill, answered, unanswered, counted, lossMs, lost }) => [
    ...lost.map((what) => `kill ${kill}: ${what}`),
    ...(counted > answered + unanswered
      ? [`kill ${kill}: ${counted} counted, ${answered + unanswered} sent`]
      : []),
    ...(lossMs > boundMs ? [`kill ${kill}: an answer of ${Math.round(lossMs)} ms before is missing`] : []),
  ]);
}

/** @returns the reports and violations. */
async function run(name: string) {
  if (name === 'postgres' && postgresPrograms === null) {
    say('postgres: skipped, PostgreSQL is not installed');
    return { name, reports: [], faults: [] };
  }
  const postgres = name === 'postgres' ? await startPostgres(postgresPrograms!) : null;
  try {
    const reports = await killLoop({
      ...{ kills, postgres, flushMs, concurrency: 32, loadMs: 2_000, outageEvery: 4 },
      onKill: ({ kill, answered, unanswered, counted, lossMs, hadOutage, keys, accounts }) =>
        say(
          `${name} ${kill}/${kills}: ${answered} answered, ${counted} counted, ${unanswered} pending, ` +
            `last loss ${Math.round(lossMs)} ms${hadOutage ? ', database down' : ''}; ` +
            `${keys} keys and ${accounts} accounts of those acknowledged were found so far`,
        ),
    });
    const faults = broken(reports);
    const worst = Math.round(Math.max(...reports.map(({ lossMs }) => lossMs)));
    say(`${name}: worst loss ${worst} ms of ${flushMs} ms, ${faults.length} faults`);
    for (const fault of faults) say(`${name}: ${fault}`);
    return { name, reports, faults };
  } finally {
    await postgres?.destroy();
  }
}

const stores = options.store === 'both' ? ['sqlite', 'postgres'] : [options.store];
const results: Awaited<ReturnType<typeof run>>[] = [];
for (const store of stores) results.push(await run(store));
if (options.json) process.stdout.write(`${JSON.stringify(results)}\n`);
process.exitCode = results.every(({ faults }) => faults.length === 0) ? 0 : 1;
