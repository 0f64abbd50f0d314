import { z } from 'zod';
import { DEFAULT_PLAN_ID } from '../control/plans.ts';
import {
  type Entry,
  type EntryValues,
  type Option,
  option,
  type Section,
  schemaOf,
  type ValuesOf,
} from './option.ts';
import * as control from './schema-control.ts';
import * as server from './schema-server.ts';
import * as upstream from './schema-upstream.ts';
import { isTable } from './table.ts';
import { namedTables, onOff, path, strictTable, table } from './value-types.ts';

/** Source of validation, types, reload rules, `config show`, the example file and the reference page. */
export const schema = {
  data_dir: option(path, 'solway-data', 'Folder of database, pepper and embedded ledger.', {
    common: true,
    env: 'SOLWAY_DATA_DIR',
    flag: 'data-dir',
  }),
  dev: option(onOff, false, 'Development mode: without nodes, an embedded ledger answers.', {
    env: 'SOLWAY_DEV',
    flag: 'dev',
  }),
  server: server.server,
  grpc: server.grpcSection,
  networks: server.networksSection,
  upstream: upstream.upstreams,
  upstream_pool: upstream.upstreamPool,
  quorum: upstream.quorum,
  sender: upstream.senders,
  transactions: upstream.transactions,
  cache: upstream.cache,
  sessions: server.sessions,
  websocket: server.websocket,
  feeds: upstream.feeds,
  geyser: upstream.geyser,
  geyser_source: upstream.geyserSource,
  replay: server.replay,
  shreds: upstream.shreds,
  rest: server.rest,
  off_chain: upstream.offChain,
  das: upstream.dasServers,
  das_pool: upstream.dasPool,
  confirmations: server.confirmations,
  storage: server.storage,
  uploads: server.uploads,
  ipfs: server.ipfs,
  kubo: server.kubo,
  pinning: server.pinning,
  semi_wallets: server.semiWallets,
  localnet: upstream.localnet,
  store: control.store,
  keys: control.keys,
  accounts: control.accounts,
  control_api: control.controlApi,
  shared: control.shared,
  quotas: control.quotas,
  notices: control.notices,
  health: control.health,
  mail: control.mail,
  request_log: control.requestLog,
  gateways: control.gateways,
  node_history: control.nodeHistory,
  billing: control.billing,
  stripe: control.stripe,
  metrics: server.metrics,
  telemetry: server.telemetry,
  log: server.log,
} as const satisfies Readonly<Record<string, Entry>>;

export const planRows = control.planRows;

export type SchemaValues = EntryValues<typeof schema>;
export type PlanValues = ValuesOf<typeof planRows>;

export const entries: Readonly<Record<string, Entry>> = schema;

/** Operators do not see sections that contain only fixed limits. */
const isPublic = (entry: Entry): boolean => entry.form !== 'section' || Object.keys(entry.rows).length > 0;

export const publicEntries: readonly (readonly [string, Entry])[] = Object.entries(entries).filter(
  ([, entry]) => isPublic(entry),
);

/** Single options by dotted name, such as `server.port`. Options in lists of tables and in plans are omitted. */
export const singleOptions: ReadonlyMap<string, Option> = new Map(
  publicEntries.flatMap(([name, entry]): [string, Option][] => {
    if (entry.form === 'option') return [[name, entry]];
    if (entry.form === 'tables') return [];
    return Object.entries(entry.rows).map(([field, row]) => [`${name}.${field}`, row]);
  }),
);

const optionalTable = (of: z.ZodType): z.ZodType => z.preprocess((value) => value ?? {}, of);

function entrySchema(name: string, entry: Entry): z.ZodType {
  if (entry.form === 'option') return schemaOf(entry);
  if (entry.form === 'tables') return namedTables(name, entry.item, entry.rows, entry.max).default([]);
  return optionalTable(table((entry as Section).rows));
}

const { REHEARSAL_PLAN_ID, rehearsalPlan } = control;

/** Adds the plans that always exist; the file may override their individual options. */
function withBuiltInPlans(value: unknown = {}): unknown {
  if (!isTable(value)) return value;
  const { [REHEARSAL_PLAN_ID]: written = {} } = value;
  const rehearsal = isTable(written) ? { ...rehearsalPlan, ...written } : written;
  return { [DEFAULT_PLAN_ID]: {}, ...value, [REHEARSAL_PLAN_ID]: rehearsal };
}

const plans = z.preprocess(
  withBuiltInPlans,
  z
    .record(z.string(), table(planRows), { error: 'is not a table: write plans as [plans.default]' })
    .refine((all) => Object.keys(all).every((id) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(id)), {
      error: 'a plan name has 1 to 32 lowercase letters, digits and dashes: [plans.my-plan]',
    }),
);

/** Validates a whole file. The result keeps the option names of the file, in snake_case. */
export const fileSchema = strictTable(
  {
    ...Object.fromEntries(publicEntries.map(([name, entry]) => [name, entrySchema(name, entry)])),
    plans,
  },
  [...singleOptions.keys()],
);

export const upstreamNode = table(upstream.upstreamRows);
