import {
  remoteUpstreamCommands,
  type UpstreamCommands,
  withUpstreamCommands,
} from '../../app/commands/upstreams.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { configurationArguments, type ParsedArguments, parseArguments } from '../../config/sources.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';
import { type NodeValues, parseNodeChange, parseNodeInput } from '../node-arguments.ts';
import { addedNodeText, changedNodeText, upstreamTable } from '../upstream-text.ts';

const help = `Usage: solway upstream <action> [options]

Actions:
  list                the nodes behind the service, as each gateway sees them
  add NAME            add a node to every gateway, for good; it is asked first who it is and what it can do
    --url URL         where it answers JSON-RPC
    --network NAME    mainnet-beta, devnet or testnet
    --ws URL          its PubSub WebSocket, or off (default: derived from the URL as clients do)
    --grpc URL        its Yellowstone gRPC address
    --header NAME=VALUE
                      sent with every request; as often as needed
    --requests-per-second N, --requests-burst N
                      what it may be asked a second, and at once (default: as much as there is to ask)
    --pipelining N    reads that may be on their way over one connection (default: 1)
    --force           add it whatever is found
  change NODE         change how a node that was added is reached and used, by the options of add; what is left
                      out stays. Headers are given whole; --ws off, --grpc off: it has none; none: no such limit
  cordon NODE         let no call go to NODE while another of its network is in service
    --reason TEXT     shown beside the node, and in the audit log
  uncordon NODE       put NODE back into service, after cordon or drain
  drain NODE          let no call go to NODE at all; calls under way finish, subscriptions and streams move
    --reason TEXT     as above
    --force           even if NODE is the last of its network, or the last with Geyser
  remove NODE         remove a node that was added; one of the configuration is removed there
    --force           even if NODE is the last of its network, or the last with Geyser

A URL and a header's value may be written as env:NAME or file:PATH, so that no history keeps a key.
Running gateways follow every change within two seconds.

Options of all actions:
  --config FILE, --data-dir DIR    where the nodes are kept
  --server URL                     ask a service on another machine, with an operator's token in SOLWAY_TOKEN
  --json                           write JSON

Examples:
  solway upstream list
  solway upstream add second --network mainnet-beta --url env:SECOND_URL --header x-token=env:SECOND_TOKEN
  solway upstream change second --requests-per-second 50 --requests-burst 100
  solway upstream drain second --reason "new disks"
  solway upstream uncordon second
  solway upstream remove second --server https://solway.example.com
`;

const options = {
  config: { type: 'string' },
  'data-dir': { type: 'string' },
  json: { type: 'boolean' },
  server: { type: 'string' },
  url: { type: 'string' },
  network: { type: 'string' },
  ws: { type: 'string' },
  grpc: { type: 'string' },
  header: { type: 'string', multiple: true },
  'requests-per-second': { type: 'string' },
  'requests-burst': { type: 'string' },
  pipelining: { type: 'string' },
  reason: { type: 'string' },
  force: { type: 'boolean' },
} as const;

type Values = NodeValues & Readonly<{ reason?: string; force?: boolean }>;

type Job = Readonly<{ commands: UpstreamCommands; node: string; values: Values }>;

/** Result of an action, as text and as JSON. */
type Report = Readonly<{ text: string; json: unknown }>;

async function list({ commands }: Job): Promise<Report> {
  const listed = await commands.list();
  return { text: upstreamTable(listed.nodes, listed.added), json: listed };
}

async function add({ commands, node, values }: Job): Promise<Report> {
  const accepted = await commands.add(parseNodeInput(node, values), values.force === true);
  return { text: addedNodeText(accepted), json: accepted };
}

async function change({ commands, node, values }: Job): Promise<Report> {
  const accepted = await commands.change(node, parseNodeChange(values), values.force === true);
  return { text: changedNodeText(accepted), json: accepted };
}

const done = (text: string): Report => ({ text: `${text}\n`, json: { done: true } });

async function cordon({ commands, node, values: { network, reason = '' } }: Job): Promise<Report> {
  await commands.cordon(node, network, reason);
  return done(`${node} is cordoned: no call goes there while another node of its network is in service.`);
}

async function uncordon({ commands, node, values: { network } }: Job): Promise<Report> {
  await commands.uncordon(node, network);
  return done(`${node} is back in service.`);
}

async function drain({ commands, node, values }: Job): Promise<Report> {
  const { network, reason = '', force = false } = values;
  await commands.drain(node, network, reason, force);
  return done(
    `${node} is drained: no call goes there, and what is fed from it moves. "uncordon" puts it back.`,
  );
}

async function remove({ commands, node, values: { force = false } }: Job): Promise<Report> {
  await commands.remove(node, force);
  return done(`${node} is removed.`);
}

type Action = Readonly<{ does: (job: Job) => Promise<Report>; takes: readonly (keyof Values)[] }>;

const nodeNames = [
  ...(['url', 'ws', 'grpc', 'header'] as const),
  ...(['requests-per-second', 'requests-burst', 'pipelining'] as const),
];

const actions: Readonly<Record<string, Action>> = {
  list: { does: list, takes: [] },
  add: { does: add, takes: ['network', ...nodeNames, 'force'] },
  change: { does: change, takes: [...nodeNames, 'force'] },
  cordon: { does: cordon, takes: ['network', 'reason'] },
  uncordon: { does: uncordon, takes: ['network'] },
  drain: { does: drain, takes: ['network', 'reason', 'force'] },
  remove: { does: remove, takes: ['force'] },
};

const valueNames = ['network', ...nodeNames, 'reason', 'force'] as const;

/** @throws UsageError */
function chooseAction({ positionals, values }: ParsedArguments): Action {
  const [name = '', node, ...more] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined)
    throw new UsageError(
      `write: solway upstream ${Object.keys(actions).join('|')} (see solway upstream --help)`,
    );
  const takesNode = action.does !== list;
  if (takesNode && node === undefined) throw new UsageError(`name the node: solway upstream ${name} NODE`);
  if (more.length > 0 || (!takesNode && node !== undefined))
    throw new UsageError(
      `solway upstream ${name} takes ${takesNode ? 'one node' : 'options only'}: see --help`,
    );
  const stray = valueNames.find((one) => values[one] !== undefined && !action.takes.includes(one));
  if (stray !== undefined)
    throw new UsageError(`solway upstream ${name} takes no --${stray}: see solway upstream --help`);
  return action;
}

/** Does the action on the machine that is named, or on the store of this one. */
async function act({ does }: Action, parsed: ParsedArguments, { environment }: Terminal): Promise<Report> {
  const values = parsed.values as Values;
  const node = parsed.positionals[1] ?? '';
  const { server } = parsed.values as { server?: string };
  // Before anything is opened: what is not understood is said in any case.
  if (does === add) parseNodeInput(node, values);
  if (does === change) parseNodeChange(values);
  const work = (commands: UpstreamCommands): Promise<Report> => does({ commands, node, values });
  if (server !== undefined)
    return work(remoteUpstreamCommands(server, readApiToken(environment, 'operator'), environment));
  // --ws, --grpc and --network are those of the node here, and none of the configuration's.
  const configuration = loadConfiguration(configurationArguments({ ...parsed, tokens: [] }), environment);
  return withUpstreamCommands(configuration, environment, getAuditActor(), work);
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const report = await act(chooseAction(parsed), parsed, terminal);
  terminal.out(parsed.values.json === true ? `${JSON.stringify(report.json)}\n` : report.text);
  return exitCodes.ok;
}

/** Names of a node's options are those of the configuration. */
const optionNames = {
  ...{ name: 'NAME', network: '--network', url: '--url', ws: '--ws', grpc: '--grpc', headers: '--header' },
  ...{ requests_per_second: '--requests-per-second', requests_burst: '--requests-burst' },
  ...{ pipelining: '--pipelining', reason: '--reason' },
};

export const command: Command = { help, optionNames, run };
