import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { readOptions } from '../programs/options.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

const USAGE = `Usage: npm run kill:gateway -- [--kills N] [--store sqlite|postgres|both] [--flush-ms N] [--grace-ms N]

Kills a gateway under load (kill -9), restarts it, and compares stored usage with the counts of the load generator: no
call is missing that was answered more than a flush interval before the kill, and none is counted that was not sent.
Keys and accounts are created by its API in the meantime: no acknowledged one is lost, nor its audit log entry. On
PostgreSQL the database is down at every fourth kill.

  --kills N       per store (default 5)
  --store NAME    sqlite, postgres or both (default both)
  --flush-ms N    keys.usage_flush_interval_ms (default 500)
  --grace-ms N    additional time for a flush to be stored (default 250); more on a busy machine
`;

const options = readOptions(USAGE, { kills: 5, store: 'both', 'flush-ms': 500, 'grace-ms': 250 });
const { kills, 'flush-ms': flushMs } = options;
const boundMs = flushMs + options['grace-ms'];

const say = (text: string): boolean => process.stdout.write(`${text}\n`);
const total = (reports: readonly KillReport[], name: 'answered' | 'counted' | 'unanswered'): number =>
  reports.reduce((sum, report) => sum + report[name], 0);

/** Faults, as text. */
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
      ...{ kills, postgres, flushMs, concurrency: 32, loadMs: 2_000, outageEvery: 4 },
      onKill: ({ kill, answered, unanswered, counted, lossMs, hadOutage }) =>
        say(
          `${name} ${kill}/${kills}: ${answered} answered, ${counted} counted, ${unanswered} pending, ` +
            `last loss ${Math.round(lossMs)} ms${hadOutage ? ', database down' : ''}`,
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
  options.store === 'both' ? (['sqlite', 'postgres'] as const) : [options.store as 'sqlite' | 'postgres'];
let isWhole = true;
for (const store of stores) isWhole = (await run(store)) && isWhole;
process.exitCode = isWhole ? 0 : 1;
