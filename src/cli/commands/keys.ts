import {
  identifyKeyOffline,
  type KeyCommands,
  remoteKeyCommands,
  withKeyCommands,
} from '../../app/commands/keys.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../config/sources.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';
import { parseExpiry, parseHours, type RuleValues, readSecret, rulesOf } from '../key-arguments.ts';
import { identifiedKeyText, keyTable, newKeyText } from '../key-text.ts';

const help = `Usage: solway keys <action> [options]

Actions:
  create              make a key; it is shown once
    --name TEXT       its name, which it must have: 1 to 64 characters
    --product NAME    rpc (RPC, WebSocket and REST; default), grpc (Yellowstone) or fs (shred-stage stream)
    --plan NAME       a plan of the configuration; default the customer's
    --expires WHEN    a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or a time from now such as 30d or 12h
    --public          a key for web pages: it needs --origin
    and what it may be used for, as under set
  list                show the keys that are not revoked
    --product NAME    only those of one product
    --all             revoked ones too
  set KEY             change what KEY and the others of its family may be used for
    --name TEXT, --expires WHEN|never
    --network NAME    mainnet-beta, devnet or testnet
    --cidr RANGE      an address or a range such as 192.0.2.0/24
    --origin ORIGIN   a web page's origin such as https://app.example.com or https://*.example.com
    --method NAME     a method, a gRPC call or an endpoint; wallet/* and getBlock* stand for several
                      (each of these four as often as needed; any: no such rule)
    --rate N[/BURST]  calls a second, and how many at once; plan: as the plan has it
    --address-rate N  calls a second from one address; any: no such limit
    --log-bodies yes|no
                      whether the request log keeps the start of parameters and results
    --never-back yes|no
                      whether no read may be of an older slot than the one before
  rotate KEY          make a new key in place of KEY, which goes on for a while; the new one is shown once
    --overlap HOURS   how long KEY goes on (default: keys.overlap_hours of the configuration; 0: not at all)
    --cut             KEY is already being replaced: end it now
  revoke KEY          end KEY for ever
  disable KEY         stop KEY until it is enabled again
  enable KEY          let KEY work again
  whose TEXT|-        say whether a key of this service is in TEXT, and whose; - reads it from the input,
                      so that no history keeps it

KEY is the id of 8 characters that the list shows, or the start of the key, or the key.
A running service follows every change within a second.

Options of all actions:
  --customer ID                    whose keys; default: those of the house
  --config FILE, --data-dir DIR    where the keys are kept
  --server URL                     ask a service on another machine, with the token in SOLWAY_TOKEN
  --json                           write JSON

Examples:
  solway keys create --product rpc --name "web shop"
  solway keys create --name page --public --origin https://app.example.com
  solway keys list
  solway keys set 7hQ2mKpZ --cidr 192.0.2.0/24 --rate 50
  solway keys rotate 7hQ2mKpZ --overlap 48
  solway keys rotate 7hQ2mKpZ --cut
  solway keys revoke 7hQ2mKpZ
  pbpaste | solway keys whose -
`;

const options = {
  ...configurationOptions,
  json: { type: 'boolean' },
  server: { type: 'string' },
  customer: { type: 'string' },
  product: { type: 'string' },
  name: { type: 'string' },
  plan: { type: 'string' },
  expires: { type: 'string' },
  public: { type: 'boolean' },
  all: { type: 'boolean' },
  overlap: { type: 'string' },
  cut: { type: 'boolean' },
  cidr: { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  method: { type: 'string', multiple: true },
  rate: { type: 'string' },
  'address-rate': { type: 'string' },
  'log-bodies': { type: 'string' },
  'never-back': { type: 'string' },
} as const;

type Values = RuleValues &
  Readonly<{
    product?: string;
    name?: string;
    plan?: string;
    expires?: string;
    public?: boolean;
    all?: boolean;
    overlap?: string;
    cut?: boolean;
  }>;

type Job = Readonly<{
  commands: KeyCommands;
  values: Values;
  key: string;
  /** Absent where the service decides. */
  overlapHours: number | undefined;
}>;

/** Result of an action, as text and as JSON. */
type Report = Readonly<{ text: string; json: unknown }>;

async function create({ commands, values }: Job): Promise<Report> {
  if (values.name === undefined)
    throw new UsageError('a key needs a name: solway keys create --name "web shop"');
  const expiresAt = values.expires === undefined ? null : parseExpiry(values.expires, Date.now());
  const { product = 'rpc', name, plan: planId, public: isPublic } = values;
  const { networks, ...rules } = rulesOf(values);
  const input = { ...rules, networks: networks ?? undefined, product, name, planId, expiresAt, isPublic };
  const created = await commands.create(input);
  return { text: newKeyText(created), json: created };
}

async function list({ commands, values }: Job): Promise<Report> {
  const keys = await commands.list({ product: values.product, withRevoked: values.all === true });
  return { text: keyTable(keys), json: { keys } };
}

async function set({ commands, values, key }: Job): Promise<Report> {
  const { name, expires } = values;
  const expiresAt =
    expires === undefined ? undefined : expires === 'never' ? null : parseExpiry(expires, Date.now());
  const change = { ...rulesOf(values), name, expiresAt };
  if (Object.values(change).every((value) => value === undefined))
    throw new UsageError('say what is to be changed: solway keys set KEY --cidr 192.0.2.0/24');
  const changed = await commands.change(key, change);
  return { text: `${changed.start}… is changed, with the others of its family.\n`, json: { key: changed } };
}

/** Validity of the replaced key. */
function describeReplacedKey({ key, old }: Awaited<ReturnType<KeyCommands['rotate']>>): string {
  const end = old.expiresAt ?? 0;
  return end <= key.createdAt ? 'has ended' : `goes on until ${new Date(end).toISOString()}`;
}

async function rotate({ commands, values, key, overlapHours }: Job): Promise<Report> {
  if (values.cut === true) {
    const cut = await commands.cutOverlap(key);
    return { text: `${cut.start}… has ended.\n`, json: { key: cut } };
  }
  const hours = values.overlap === undefined ? overlapHours : parseHours(values.overlap);
  const rotated = await commands.rotate(key, hours === undefined ? hours : Math.round(hours * 3_600_000));
  return {
    text: `${newKeyText(rotated)}The old key ${rotated.old.start}… ${describeReplacedKey(rotated)}.\n`,
    json: rotated,
  };
}

const change =
  (verb: 'revoke' | 'disable' | 'enable', done: string) =>
  async ({ commands, key }: Job): Promise<Report> => {
    const changed = await commands[verb](key);
    return { text: `${changed.start}… is ${done}.\n`, json: { key: changed } };
  };

async function whose({ commands, key }: Job): Promise<Report> {
  const found = await commands.identify(key);
  return { text: identifiedKeyText(found), json: found };
}

type Action = Readonly<{
  takesKey: boolean;
  does: (job: Job) => Promise<Report>;
  takes: readonly (keyof Values)[];
}>;

const rules = [
  'network',
  'cidr',
  'origin',
  'method',
  'rate',
  'address-rate',
  'log-bodies',
  'never-back',
] as const;

const actions: Readonly<Record<string, Action>> = {
  create: {
    takesKey: false,
    does: create,
    takes: ['product', 'name', 'plan', 'expires', 'public', ...rules],
  },
  list: { takesKey: false, does: list, takes: ['product', 'all'] },
  set: { takesKey: true, does: set, takes: ['name', 'expires', ...rules] },
  rotate: { takesKey: true, does: rotate, takes: ['overlap', 'cut'] },
  revoke: { takesKey: true, does: change('revoke', 'revoked'), takes: [] },
  disable: { takesKey: true, does: change('disable', 'disabled'), takes: [] },
  enable: { takesKey: true, does: change('enable', 'enabled'), takes: [] },
  whose: { takesKey: true, does: whose, takes: [] },
};

const valueNames = [
  ...['product', 'name', 'plan', 'expires', 'public', 'all', 'overlap', 'cut'],
  ...rules,
] as readonly (keyof Values)[];

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

/** Does the action on the machine that is named, or on the store of this one. */
async function act(
  action: Action,
  parsed: ParsedArguments,
  key: string,
  environment: Terminal['environment'],
): Promise<Report> {
  const values = parsed.values as Values;
  const { server, customer } = parsed.values as { server?: string; customer?: string };
  if (server !== undefined) {
    const token = readApiToken(environment, 'anybody');
    const commands = await remoteKeyCommands({ url: server, token, customer });
    return action.does({ commands, values, key, overlapHours: undefined });
  }
  // --network is one of the key here, and not of a node.
  const tokens = parsed.tokens.filter(({ name }) => name !== 'network');
  const configuration = loadConfiguration(configurationArguments({ ...parsed, tokens }), environment);
  const { overlapHours } = configuration.keys;
  const createIfMissing = action.does === create;
  const commandOptions = { configuration, environment, actor: getAuditActor(), customer, createIfMissing };
  return withKeyCommands(commandOptions, (commands) => action.does({ commands, values, key, overlapHours }));
}

async function reportOf(parsed: ParsedArguments, { environment }: Terminal): Promise<Report> {
  const action = chooseAction(parsed);
  const named = parsed.positionals[1] ?? '';
  if (action.does !== whose) return act(action, parsed, named, environment);
  const text = named === '-' ? await readSecret(process.stdin) : named.trim();
  const offline = identifyKeyOffline(text);
  if (offline !== null) return { text: identifiedKeyText(offline), json: offline };
  return act(action, parsed, text, environment);
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const report = await reportOf(parsed, terminal);
  terminal.out(parsed.values.json === true ? `${JSON.stringify(report.json)}\n` : report.text);
  return exitCodes.ok;
}

const optionNames = {
  ...{ product: '--product', name: '--name', planId: '--plan', expiresAt: '--expires', isPublic: '--public' },
  ...{ networks: '--network', cidrs: '--cidr', origins: '--origin', methods: '--method', rate: '--rate' },
  ...{ addressPerSecond: '--address-rate', logsBodies: '--log-bodies', neverBack: '--never-back' },
  overlapMs: '--overlap',
};

export const command: Command = { help, optionNames, run };
