import {
  backupDatabase,
  type DatabaseFacts,
  migrateDatabase,
  moveDatabase,
  restoreDatabase,
  type TableProgress,
} from '../../app/commands/database.ts';
import type { Configuration } from '../../config/configuration.ts';
import { configurationOptions } from '../../config/sources.ts';
import { type Action, actionCommand, storeConfiguration, text } from '../action-command.ts';
import { type Terminal, UsageError } from '../command.ts';

const help = `Usage: solway db <action> [options]

Actions:
  migrate             upgrade the database schema, as every start does, and show the row counts
  backup FILE         back up the database into FILE, which must not exist; the service may keep running
  restore FILE        restore a backup into an empty database and verify every row
  move --to URL       copy the database into an empty PostgreSQL database and verify every row;
                      stop the service first. URL may be env:NAME or file:PATH

A backup holds digests of keys and passwords, no key and no password. To use it you also need the pepper:
keep the file pepper of the data folder, or SOLWAY_PEPPER, in a different place.

Options of all actions:
  --config FILE, --data-dir DIR    where the database is
  --json                           print JSON

Examples:
  solway db backup /var/backups/solway-2027-01-31.gz
  solway db restore /var/backups/solway-2027-01-31.gz --data-dir new-folder
  solway db move --to env:NEW_DATABASE_URL
`;

type Job = Readonly<{
  configuration: Configuration;
  terminal: Terminal;
  file: string;
  to: string | undefined;
  onTable: TableProgress;
}>;

const numbers = new Intl.NumberFormat('en-US');
const rowsText = (rows: number): string => `${numbers.format(rows)} ${rows === 1 ? 'row' : 'rows'}`;

function factsText({ location: place, schema, tables }: DatabaseFacts): string {
  const change =
    schema.found === schema.now
      ? `has schema ${schema.now}`
      : `was upgraded from schema ${schema.found} to ${schema.now}`;
  const width = Math.max(...tables.map(({ table }) => table.length));
  const lines = tables.map(
    ({ table, rows }) => `  ${table.padEnd(width)}  ${numbers.format(rows).padStart(12)}`,
  );
  return `${place} ${change}.\n${lines.join('\n')}\n`;
}

const sum = (counts: readonly Readonly<{ rows: number }>[]): number =>
  counts.reduce((total, { rows }) => total + rows, 0);

const actions: Readonly<Record<string, Action<Job>>> = {
  migrate: {
    async run({ configuration }) {
      const facts = await migrateDatabase(configuration);
      return { text: factsText(facts), json: facts };
    },
  },
  backup: {
    argument: 'FILE',
    async run({ configuration, file, onTable }) {
      const tables = await backupDatabase(configuration, file, onTable);
      return { text: `Wrote ${rowsText(sum(tables))} to ${file}.\n`, json: { file, tables } };
    },
  },
  restore: {
    argument: 'FILE',
    async run({ configuration, file, onTable }) {
      const tables = await restoreDatabase(configuration, file, onTable);
      return { text: `Restored and verified ${rowsText(sum(tables))}.\n`, json: { file, tables } };
    },
  },
  move: {
    options: ['to'],
    async run({ configuration, to, terminal, onTable }) {
      if (to === undefined)
        throw new UsageError('missing option: solway db move --to postgres://user@host/database');
      const { place, counts } = await moveDatabase(configuration, to, terminal.environment, onTable);
      const next = 'Set DATABASE_URL (or store.database_url) to it and start the service.';
      const text = `Copied ${rowsText(sum(counts))} to ${place} and verified them. ${next}\n`;
      return { text, json: { place, tables: counts } };
    },
  },
};

export const command = actionCommand<Job>({
  ...{ name: 'db', help, actions },
  options: { ...configurationOptions, to: text },
  act(action, { argument: file, parsed, terminal }) {
    const configuration = storeConfiguration(parsed, terminal.environment);
    const { json, to } = parsed.values as { json?: boolean; to?: string };
    const onTable: TableProgress = ({ table, rows }) => {
      if (json !== true) terminal.err(`${table}: ${rowsText(rows)}\n`);
    };
    return action.run({ configuration, terminal, file, to, onTable });
  },
});
