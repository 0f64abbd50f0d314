import { userInfo } from 'node:os';
import { loadConfiguration } from '../../app/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../app/configuration-arguments.ts';
import { type KeyOffice, withKeyOffice } from '../../app/keys-commands.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';
import { keyTable, newKeyText } from '../key-text.ts';
import { parseExpiry, parseHours } from '../time-arguments.ts';

const help = `Usage: solway keys <action> [options]

Actions:
  create              make a key; it is shown once
    --name TEXT       its name, which it must have: 1 to 64 characters
    --product NAME    rpc (RPC, WebSocket and REST; default), grpc (Yellowstone) or fs (shred-stage stream)
    --plan NAME       a plan of the configuration; default "default"
    --expires WHEN    a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or a time from now such as 30d or 12h
  list                show the keys that are not revoked
    --product NAME    only those of one product
    --all             revoked ones too
  rotate KEY          make a new key in place of KEY, which goes on for a while; the new one is shown once
    --overlap HOURS   how long KEY goes on (default: keys.overlap_hours of the configuration; 0: not at all)
    --cut             KEY is already being replaced: end it now
  revoke KEY          end KEY for ever
  disable KEY         stop KEY until it is enabled again
  enable KEY          let KEY work again

KEY is the id of 8 characters that the list shows, or the start of the key, or the key.
A running service follows every change within a second.

Options of all actions:
  --config FILE, --data-dir DIR    where the keys are kept
  --json                           write JSON

Examples:
  solway keys create --product rpc --name "web shop"
  solway keys list
  solway keys rotate 7hQ2mKpZ --overlap 48
  solway keys rotate 7hQ2mKpZ --cut
  solway keys revoke 7hQ2mKpZ
`;

const options = {
  ...configurationOptions,
  json: { type: 'boolean' },
  product: { type: 'string' },
  name: { type: 'string' },
  plan: { type: 'string' },
  expires: { type: 'string' },
  all: { type: 'boolean' },
  overlap: { type: 'string' },
  cut: { type: 'boolean' },
} as const;

type Values = Readonly<{
  product?: string;
  name?: string;
  plan?: string;
  expires?: string;
  all?: boolean;
  overlap?: string;
  cut?: boolean;
}>;

type Job = Readonly<{ office: KeyOffice; values: Values; key: string; overlapHours: number }>;

/** What an action answers, for people and for programs. */
type Report = Readonly<{ text: string; json: unknown }>;

async function create({ office, values }: Job): Promise<Report> {
  if (values.name === undefined)
    throw new UsageError('a key needs a name: solway keys create --name "web shop"');
  const expiresAt = values.expires === undefined ? null : parseExpiry(values.expires, Date.now());
  const { product = 'rpc', name, plan } = values;
  const created = await office.create({ product, name, plan, expiresAt });
  return { text: newKeyText(created), json: created };
}

async function list({ office, values }: Job): Promise<Report> {
  const keys = await office.list({ product: values.product, withRevoked: values.all === true });
  return { text: keyTable(keys), json: { keys } };
}

/** What becomes of the key that was replaced. */
function fate({ key, old }: Awaited<ReturnType<KeyOffice['rotate']>>): string {
  const end = old.expiresAt ?? 0;
  return end <= key.createdAt ? 'has ended' : `goes on until ${new Date(end).toISOString()}`;
}

async function rotate({ office, values, key, overlapHours }: Job): Promise<Report> {
  if (values.cut === true) {
    const cut = await office.cutOverlap(key);
    return { text: `${cut.start}… has ended.\n`, json: { key: cut } };
  }
  const hours = values.overlap === undefined ? overlapHours : parseHours(values.overlap);
  const rotated = await office.rotate(key, Math.round(hours * 3_600_000));
  return {
    text: `${newKeyText(rotated)}The old key ${rotated.old.start}… ${fate(rotated)}.\n`,
    json: rotated,
  };
}

const change =
  (verb: 'revoke' | 'disable' | 'enable', done: string) =>
  async ({ office, key }: Job): Promise<Report> => {
    const changed = await office[verb](key);
    return { text: `${changed.start}… is ${done}.\n`, json: { key: changed } };
  };

type Action = Readonly<{
  takesKey: boolean;
  does: (job: Job) => Promise<Report>;
  takes: readonly (keyof Values)[];
}>;

const actions: Readonly<Record<string, Action>> = {
  create: { takesKey: false, does: create, takes: ['product', 'name', 'plan', 'expires'] },
  list: { takesKey: false, does: list, takes: ['product', 'all'] },
  rotate: { takesKey: true, does: rotate, takes: ['overlap', 'cut'] },
  revoke: { takesKey: true, does: change('revoke', 'revoked'), takes: [] },
  disable: { takesKey: true, does: change('disable', 'disabled'), takes: [] },
  enable: { takesKey: true, does: change('enable', 'enabled'), takes: [] },
};

const valueNames = ['product', 'name', 'plan', 'expires', 'all', 'overlap', 'cut'] as const;

/** @throws UsageError */
function chooseAction({ positionals, values }: ParsedArguments): Action {
  const [name = '', key, ...more] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`write: solway keys ${Object.keys(actions).join('|')} (see solway keys --help)`);
  }
  if (action.takesKey && key === undefined) throw new UsageError(`name the key: solway keys ${name} KEY`);
  if (more.length > 0 || (!action.takesKey && key !== undefined)) {
    throw new UsageError(
      `solway keys ${name} takes ${action.takesKey ? 'one key' : 'options only'}: see --help`,
    );
  }
  const stray = valueNames.find((one) => values[one] !== undefined && !action.takes.includes(one));
  if (stray !== undefined)
    throw new UsageError(`solway keys ${name} takes no --${stray}: see solway keys --help`);
  return action;
}

/** Who acts, for the audit log. */
function actor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const action = chooseAction(parsed);
  const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
  const makesStore = action.does === create;
  const report = await withKeyOffice(configuration, terminal.environment, actor(), makesStore, (office) =>
    action.does({
      office,
      values: parsed.values as Values,
      key: parsed.positionals[1] ?? '',
      overlapHours: configuration.keys.overlapHours,
    }),
  );
  terminal.out(parsed.values.json === true ? `${JSON.stringify(report.json)}\n` : report.text);
  return exitCodes.ok;
}

export const command: Command = { help, run };
