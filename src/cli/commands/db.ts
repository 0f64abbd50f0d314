import {
  backupDatabase,
  type DatabaseFacts,
  migrateDatabase,
  moveDatabase,
  restoreDatabase,
  type TableProgress,
} from '../../app/commands/database.ts';
import type { Configuration } from '../../config/configuration.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../config/sources.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';

const help = `Usage: solway db <action> [options]

Actions:
  migrate             bring the database's schema forward, as every start does, and show what is in it
  backup FILE         write all of the database into FILE, which must not exist; the service may go on
  restore FILE        put a backup into an empty database, and compare every row
  move --to URL       copy all of the database into an empty PostgreSQL database, and compare every row;
                      stop the service first. URL may stand in a variable or a file: env:NAME or file:PATH

A backup holds digests of keys and passwords, no key and no password. To use it you also need the pepper:
keep the file pepper of the data folder, or SOLWAY_PEPPER, apart from it.

Options of all actions:
  --config FILE, --data-dir DIR    where the database is
  --json                           write JSON

Examples:
  solway db backup /var/backups/solway-2027-01-31.gz
  solway db restore /var/backups/solway-2027-01-31.gz --data-dir new-folder
  solway db move --to env:NEW_DATABASE_URL
`;

const options = { ...configurationOptions, json: { type: 'boolean' }, to: { type: 'string' } } as const;

type Job = Readonly<{
  configuration: Configuration;
  terminal: Terminal;
  file: string;
  to: string;
  onTable: TableProgress;
}>;

/** Result of an action, as text and as JSON. */
type Report = Readonly<{ text: string; json: unknown }>;

const numbers = new Intl.NumberFormat('en-US');
const rowsText = (rows: number): string => `${numbers.format(rows)} ${rows === 1 ? 'row' : 'rows'}`;

function factsText({ place, schema, tables }: DatabaseFacts): string {
  const change =
    schema.found === schema.now
      ? `has schema ${schema.now}`
      : `went from schema ${schema.found} to ${schema.now}`;
  const width = Math.max(...tables.map(({ table }) => table.length));
  const lines = tables.map(
    ({ table, rows }) => `  ${table.padEnd(width)}  ${numbers.format(rows).padStart(12)}`,
  );
  return `${place} ${change}.\n${lines.join('\n')}\n`;
}

const sum = (counts: readonly Readonly<{ rows: number }>[]): number =>
  counts.reduce((total, { rows }) => total + rows, 0);

async function migrate({ configuration }: Job): Promise<Report> {
  const facts = await migrateDatabase(configuration);
  return { text: factsText(facts), json: facts };
}

async function backup({ configuration, file, onTable }: Job): Promise<Report> {
  const tables = await backupDatabase(configuration, file, onTable);
  return { text: `${rowsText(sum(tables))} are in ${file}.\n`, json: { file, tables } };
}

async function restore({ configuration, file, onTable }: Job): Promise<Report> {
  const tables = await restoreDatabase(configuration, file, onTable);
  return { text: `${rowsText(sum(tables))} were restored and compared.\n`, json: { file, tables } };
}

async function move({ configuration, to, terminal, onTable }: Job): Promise<Report> {
  const { place, counts } = await moveDatabase(configuration, to, terminal.environment, onTable);
  const next = 'Set DATABASE_URL (or store.database_url) to it and start the service.';
  return {
    text: `${rowsText(sum(counts))} were copied to ${place} and compared. ${next}\n`,
    json: { place, tables: counts },
  };
}

type Action = Readonly<{ does: (job: Job) => Promise<Report>; takes: 'file' | 'to' | 'nothing' }>;

const actions: Readonly<Record<string, Action>> = {
  migrate: { does: migrate, takes: 'nothing' },
  backup: { does: backup, takes: 'file' },
  restore: { does: restore, takes: 'file' },
  move: { does: move, takes: 'to' },
};

/** @throws UsageError */
function chooseAction({ positionals, values }: ParsedArguments): Action {
  const [name = '', file, ...more] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined)
    throw new UsageError(`write: solway db ${Object.keys(actions).join('|')} (see solway db --help)`);
  if (action.takes === 'file' && file === undefined)
    throw new UsageError(`name the file: solway db ${name} FILE`);
  if (action.takes === 'to' && typeof values.to !== 'string')
    throw new UsageError('say where to: solway db move --to postgres://user@host/database');
  if (more.length > 0 || (action.takes !== 'file' && file !== undefined))
    throw new UsageError(`solway db ${name} takes no "${more[0] ?? file}": see solway db --help`);
  if (action.takes !== 'to' && values.to !== undefined)
    throw new UsageError(`solway db ${name} takes no --to: see solway db --help`);
  return action;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const action = chooseAction(parsed);
  const json = parsed.values.json === true;
  const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
  const onTable: TableProgress = ({ table, rows }) => {
    if (!json) terminal.err(`${table}: ${rowsText(rows)}\n`);
  };
  const [, file = ''] = parsed.positionals;
  const to = typeof parsed.values.to === 'string' ? parsed.values.to : '';
  const report = await action.does({ configuration, terminal, file, to, onTable });
  terminal.out(json ? `${JSON.stringify(report.json, null, 2)}\n` : report.text);
  return exitCodes.ok;
}

export const command: Command = { help, run };
