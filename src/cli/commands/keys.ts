import {
  identifyKeyOffline,
  type KeyCommands,
  remoteKeyCommands,
  withKeyCommands,
} from '../../app/commands/keys.ts';
import { ArgumentsError } from '../../config/errors.ts';
import { configurationOptions, type OptionValues } from '../../config/sources.ts';
import {
  type Action,
  actionCommand,
  flag,
  type Invocation,
  type Report,
  storeConfiguration,
  text,
} from '../action-command.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { parseExpiry, parseHours, readSecret, ruleOptions, rulesOf } from '../key-arguments.ts';
import { identifiedKeyText, keyTable, newKeyText } from '../key-text.ts';

const help = `Usage: solway keys <action> [options]

Actions:
  create              create a key; it is shown once
    --name TEXT       its name, 1 to 64 characters; required
    --product NAME    rpc (RPC, WebSocket and REST; default), grpc (Yellowstone) or fs (shred-stage stream)
    --plan NAME       a plan of the configuration (default: the plan of the customer)
    --expires WHEN    a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or a duration such as 30d or 12h
    --public          a key for web pages; requires --origin
    and the rules listed under set
  list                list the keys that are not revoked
    --product NAME    only keys of one product
    --state STATE     active, rotating, disabled, expired or revoked
    --search TEXT     only keys whose name contains TEXT, or whose id or key prefix starts with TEXT
    --sort FIELD      name, createdAt, lastUsedAt or expiresAt; prefix with - for descending order
    --all             include revoked keys
  set KEY             change the rules of KEY and the other keys of its family
    --name TEXT, --expires WHEN|never
    --network NAME    mainnet-beta, devnet, testnet or a network of networks.custom
    --cidr RANGE      an address or a range such as 192.0.2.0/24
    --origin ORIGIN   a web page's origin such as https://app.example.com or https://*.example.com
    --method NAME     a method, a gRPC call or an endpoint; wallet/* and getBlock* match several
                      (repeat these four as needed; any removes the rule)
    --rate N[/BURST]  requests per second, and the burst; plan: the limit of the plan
    --address-rate N  requests per second from one IP address; any: no such limit
    --log-bodies yes|no
                      store the start of parameters and results in the request log
    --never-back yes|no
                      monotonic reads: no read returns an older slot than the read before
  rotate KEY          create a replacement for KEY, which stays valid for an overlap; the new key is shown once
    --overlap HOURS   how long KEY stays valid (default: keys.overlap_hours of the configuration; 0: not at all)
    --cut             end the overlap of a rotation that is in progress
  revoke KEY          revoke KEY permanently
  disable KEY         reject KEY until it is enabled again
  enable KEY          accept KEY again
  whose TEXT|-        find the key of this service in TEXT, and its owner; - reads from standard input,
                      which keeps the key out of the shell history

KEY is the id of 8 characters shown by list, the start of the key, or the key.
A running service applies every change within a second.

Options of all actions:
  --customer ID                    customer of the keys (default: the operator's own)
  --config FILE, --data-dir DIR    where the keys are stored
  --server URL                     use a service on another machine, with a token in SOLWAY_TOKEN
  --json                           print JSON

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

const rules = Object.keys(ruleOptions);

const keyOptions = {
  ...{ server: text, customer: text, product: text, name: text, plan: text, expires: text },
  ...{ public: flag, all: flag, overlap: text, cut: flag, state: text, search: text, sort: text },
  ...ruleOptions,
};

type Values = OptionValues<typeof keyOptions>;

type Job = Readonly<{
  commands: KeyCommands;
  values: Values;
  key: string;
  /** Default overlap of rotations; undefined: the service decides. */
  overlapHours: number | undefined;
}>;

async function create({ commands, values }: Job): Promise<Report> {
  if (values.name === undefined)
    throw new ArgumentsError('missing option --name: solway keys create --name "web shop"');
  const expiresAt = values.expires === undefined ? null : parseExpiry(values.expires, Date.now());
  const { product = 'rpc', name, plan: planId, public: isPublic } = values;
  const { networks, ...rules } = rulesOf(values);
  const input = { ...rules, networks: networks ?? undefined, product, name, planId, expiresAt, isPublic };
  const created = await commands.create(input);
  return { text: newKeyText(created), json: created };
}

async function set({ commands, values, key }: Job): Promise<Report> {
  const { name, expires } = values;
  const expiresAt =
    expires === undefined ? undefined : expires === 'never' ? null : parseExpiry(expires, Date.now());
  const change = { ...rulesOf(values), name, expiresAt };
  if (Object.values(change).every((value) => value === undefined))
    throw new ArgumentsError(
      'nothing to change: add an option, such as solway keys set KEY --cidr 192.0.2.0/24',
    );
  const changed = await commands.change(key, change);
  return { text: `Changed ${changed.start}… and the other keys of its family.\n`, json: { key: changed } };
}

async function rotate({ commands, values, key: keyText, overlapHours }: Job): Promise<Report> {
  if (values.cut === true) {
    const cut = await commands.cutOverlap(keyText);
    return { text: `${cut.start}… has expired.\n`, json: { key: cut } };
  }
  const hours = values.overlap === undefined ? overlapHours : parseHours(values.overlap);
  const rotated = await commands.rotate(keyText, hours === undefined ? hours : Math.round(hours * 3_600_000));
  const { key, old } = rotated;
  const end = old.expiresAt ?? 0;
  const validity = end <= key.createdAt ? 'has expired' : `stays valid until ${new Date(end).toISOString()}`;
  return { text: `${newKeyText(rotated)}The old key ${old.start}… ${validity}.\n`, json: rotated };
}

const change = (verb: 'revoke' | 'disable' | 'enable', state: string): Action<Job> => ({
  argument: 'KEY',
  async run({ commands, key }) {
    const changed = await commands[verb](key);
    return { text: `${changed.start}… is ${state}.\n`, json: { key: changed } };
  },
});

const actions = {
  create: { options: ['product', 'name', 'plan', 'expires', 'public', ...rules], run: create },
  list: {
    options: ['product', 'state', 'search', 'sort', 'all'],
    async run({ commands, values: { all, ...values } }) {
      const { product, state, search, sort } = values;
      const keys = await commands.list({ product, state, search, sort, withRevoked: all === true });
      return { text: keyTable(keys), json: { keys } };
    },
  },
  set: { argument: 'KEY', options: ['name', 'expires', ...rules], run: set },
  rotate: { argument: 'KEY', options: ['overlap', 'cut'], run: rotate },
  revoke: change('revoke', 'revoked'),
  disable: change('disable', 'disabled'),
  enable: change('enable', 'enabled'),
  whose: {
    argument: 'TEXT',
    async run({ commands, key }) {
      const found = await commands.identify(key);
      return { text: identifiedKeyText(found), json: found };
    },
  },
} satisfies Record<string, Action<Job>>;

async function act(
  action: Action<Job>,
  { argument, parsed, terminal: { environment } }: Invocation,
): Promise<Report> {
  let key = argument;
  if (action === actions.whose) {
    key = argument === '-' ? await readSecret(process.stdin) : argument.trim();
    const offline = identifyKeyOffline(key);
    if (offline !== null) return { text: identifiedKeyText(offline), json: offline };
  }
  const values = parsed.values as Values;
  const { server, customer } = values;
  if (server !== undefined) {
    const token = readApiToken(environment, 'any');
    const commands = await remoteKeyCommands({ url: server, token, customer });
    return action.run({ commands, values, key, overlapHours: undefined });
  }
  // Here --network is a rule of the key, not the network of a node.
  const tokens = parsed.tokens.filter(({ name }) => name !== 'network');
  const configuration = storeConfiguration({ ...parsed, tokens }, environment);
  const { overlapHours } = configuration.keys;
  const createIfMissing = action === actions.create;
  const commandOptions = { configuration, environment, actor: getAuditActor(), customer, createIfMissing };
  return withKeyCommands(commandOptions, (commands) => action.run({ commands, values, key, overlapHours }));
}

const optionNames = {
  ...{ product: '--product', name: '--name', planId: '--plan', expiresAt: '--expires', isPublic: '--public' },
  ...{ networks: '--network', cidrs: '--cidr', origins: '--origin', methods: '--method', rate: '--rate' },
  ...{ addressPerSecond: '--address-rate', logsBodies: '--log-bodies', neverBack: '--never-back' },
  ...{ overlapMs: '--overlap', state: '--state', search: '--search', sort: '--sort' },
};

export const command = actionCommand<Job>({
  ...{ name: 'keys', help, optionNames, actions, act },
  options: { ...configurationOptions, ...keyOptions },
});
