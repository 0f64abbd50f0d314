import { parseArgs } from 'node:util';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

const USAGE = `Usage: npm run kill:gateway -- [--kills N] [--store sqlite|postgres|both] [--flush-ms N] [--grace-ms N]

Kills a gateway under load (kill -9), starts it again, and holds what is in the store against the load
generator's own count: nothing is missing that was answered more than a flush interval before the kill, and nothing
is there that was not called. Keys and accounts are made by its API meanwhile: none that was acknowledged is lost, nor
its line of the audit log. On PostgreSQL the database is away at every fourth kill.

  --kills N       per store (default 5)
  --store NAME    sqlite, postgres or both (default both)
  --flush-ms N    keys.usage_flush_interval_ms (default 500)
  --grace-ms N    what a flush may take on top of that interval, to be on the disk or in the database, before an
                  answer that is missing counts as lost; more only where the machine is busy (default 250)
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '5' },
    store: { type: 'string', default: 'both' },
    'flush-ms': { type: 'string', default: '500' },
    'grace-ms': { type: 'string', default: '250' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const kills = Number(values.kills);
const flushMs = Number(values['flush-ms']);
const boundMs = flushMs + Number(values['grace-ms']);

const say = (text: string): boolean => process.stdout.write(`${text}\n`);
const total = (reports: readonly KillReport[], name: 'answered' | 'counted' | 'unanswered'): number =>
  reports.reduce((sum, report) => sum + report[name], 0);

/** What breaks the promise, in words. */
function broken(reports: readonly KillReport[]): string[] {
  return reports.flatMap(({ kill, answered, unanswered, counted, lossMs, lost }) => [
    ...lost.map((what) => `kill ${kill}: ${what}`),
    ...(counted > answered + unanswered
      ? [`kill ${kill}: ${counted} counted, ${answered + unanswered} sent`]
      : []),
    ...(lossMs > boundMs ? [`kill ${kill}: an answer of ${Math.round(lossMs)} ms before is missing`] : []),
  ]);
}

async function run(name: 'sqlite' | 'postgres'): Promise<boolean> {
  if (name === 'postgres' && postgresPrograms === null) {
    say('postgres: skipped, PostgreSQL is not installed');
    return true;
  }
  const postgres = name === 'postgres' ? await startPostgres(postgresPrograms!) : null;
  try {
    const reports = await killLoop({
      ...{ kills, postgres, flushMs, concurrency: 32, loadMs: 2_000, awayEvery: 4 },
      onKill: ({ kill, answered, unanswered, counted, lossMs, databaseAway }) =>
        say(
          `${name} ${kill}/${kills}: ${answered} answered, ${counted} counted, ${unanswered} under way, ` +
            `lost the last ${Math.round(lossMs)} ms${databaseAway ? ', database away' : ''}`,
        ),
    });
    const [answered, counted] = [total(reports, 'answered'), total(reports, 'counted')];
    const above = reports.filter((report) => report.counted > report.answered).length;
    const worst = Math.round(Math.max(...reports.map(({ lossMs }) => lossMs)));
    say(
      `${name}: ${reports.length} kills, ${answered} answered, ${counted} counted ` +
        `(${(((answered - counted) / answered) * 100).toFixed(2)} % lost), worst loss ${worst} ms of ${flushMs} ms, ` +
        `above the answers ${above} times (never above what was sent)`,
    );
    const { keys = 0, accounts = 0 } = reports.at(-1) ?? {};
    say(`${name}: ${keys} keys and ${accounts} accounts of those acknowledged were found`);
    const faults = broken(reports);
    for (const fault of faults) say(`${name}: ${fault}`);
    return faults.length === 0;
  } finally {
    await postgres?.destroy();
  }
}

const stores =
  values.store === 'both' ? (['sqlite', 'postgres'] as const) : [values.store as 'sqlite' | 'postgres'];
let isWhole = true;
for (const store of stores) isWhole = (await run(store)) && isWhole;
process.exitCode = isWhole ? 0 : 1;
