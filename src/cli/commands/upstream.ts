import {
  remoteUpstreamCommands,
  type UpstreamCommands,
  withUpstreamCommands,
} from '../../app/commands/upstreams.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { configurationArguments, type OptionValues } from '../../config/sources.ts';
import { type Action, actionCommand, flag, type Invocation, type Report, text } from '../action-command.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { nodeOptions, parseNodeChange, parseNodeInput } from '../node-arguments.ts';
import { APPLIED, acceptedNodeText, upstreamTable } from '../upstream-text.ts';

const help = `Usage: solway upstream <action> [options]

Actions:
  list                list the nodes of the service, as each gateway sees them
  add NAME            add a node to every gateway permanently, after checking its identity and capabilities
    --url URL         its JSON-RPC URL
    --network NAME    mainnet-beta, devnet, testnet or a network of networks.custom
    --ws URL          its PubSub WebSocket, or off (default: derived from the URL as clients do)
    --grpc URL        its Yellowstone gRPC address
    --header NAME=VALUE
                      sent with every request; repeat as needed
    --requests-per-second N, --requests-burst N
                      rate limit and burst for requests to it (default: no limit)
    --priority N      higher numbers are fallbacks (default: 1)
    --weight N        share of calls within its priority (default: 1)
    --methods LIST    methods to route to it, such as getBlock,getToken*; none
    --archive WORD    full ledger history: yes, no or none (detect)
    --indexes LIST    account indexes, such as program-id; none
    --region NAME     region; none
    --pipelining N    maximum concurrent reads over one connection, or auto (default)
    --force           add it even if the check fails
  change NODE         change an added node, with the options of add; omitted options keep their values.
                      Headers replace all headers; --ws off and --grpc off remove a feed; none removes a limit
  cordon NODE         send NODE no calls while another node of its network is in service
    --reason TEXT     shown beside the node and in the audit log
  uncordon NODE       put NODE back into service, after cordon or drain
  drain NODE          send NODE no calls at all; pending calls finish, subscriptions and streams move
    --reason TEXT     as for cordon
    --force           even if NODE is the last of its network, or the last with Geyser
  remove NODE         remove an added node; edit the configuration to remove one of the file
    --force           even if NODE is the last of its network, or the last with Geyser

A URL and a header's value may be env:NAME or file:PATH, which keeps keys out of the shell history.
Running gateways apply every change within two seconds.

Options of all actions:
  --config FILE, --data-dir DIR    where the nodes are stored
  --server URL                     use a service on another machine, with an operator's token in SOLWAY_TOKEN
  --json                           print JSON

Examples:
  solway upstream list
  solway upstream add second --network mainnet-beta --url env:SECOND_URL --header x-token=env:SECOND_TOKEN
  solway upstream change second --requests-per-second 50 --requests-burst 100
  solway upstream drain second --reason "new disks"
  solway upstream uncordon second
  solway upstream remove second --server https://solway.example.com
`;

const options = {
  ...{ config: text, 'data-dir': text, server: text, reason: text, force: flag },
  ...nodeOptions,
};

type Values = OptionValues<typeof options>;

type Job = Readonly<{ commands: UpstreamCommands; node: string; values: Values }>;

const done = (text: string): Report => ({ text: `${text}\n`, json: { done: true } });

const { network: _, ...changeable } = nodeOptions;
const changeOptions = [...Object.keys(changeable), 'force'];

const actions = {
  list: {
    async run({ commands }) {
      const listed = await commands.list();
      return { text: upstreamTable(listed), json: listed };
    },
  },
  add: {
    argument: 'NAME',
    options: ['network', ...changeOptions],
    async run({ commands, node, values }) {
      const accepted = await commands.add(parseNodeInput(node, values), values.force === true);
      return { text: acceptedNodeText('Added', accepted), json: accepted };
    },
  },
  change: {
    argument: 'NODE',
    options: changeOptions,
    async run({ commands, node, values }) {
      const accepted = await commands.change(node, parseNodeChange(values), values.force === true);
      return { text: acceptedNodeText('Changed', accepted), json: accepted };
    },
  },
  cordon: {
    argument: 'NODE',
    options: ['network', 'reason'],
    async run({ commands, node, values: { network, reason = '' } }) {
      await commands.cordon(node, network, reason);
      return done(`Cordoned ${node}. It gets no calls while another node of its network is in service.`);
    },
  },
  uncordon: {
    argument: 'NODE',
    options: ['network'],
    async run({ commands, node, values: { network } }) {
      await commands.uncordon(node, network);
      return done(`${node} is back in service. ${APPLIED}`);
    },
  },
  drain: {
    argument: 'NODE',
    options: ['network', 'reason', 'force'],
    async run({ commands, node, values: { network, reason = '', force = false } }) {
      await commands.drain(node, network, reason, force);
      return done(`Draining ${node}: no new calls, and its streams move. ${APPLIED} Undo with uncordon.`);
    },
  },
  remove: {
    argument: 'NODE',
    options: ['force'],
    async run({ commands, node, values: { force = false } }) {
      await commands.remove(node, force);
      return done(`Removed ${node}. ${APPLIED}`);
    },
  },
} satisfies Record<string, Action<Job>>;

async function act(
  action: Action<Job>,
  { argument: node, parsed, terminal: { environment } }: Invocation,
): Promise<Report> {
  const values = parsed.values as Values;
  const { server } = values;
  // Reports invalid options before anything is opened.
  if (action === actions.add) parseNodeInput(node, values);
  if (action === actions.change) parseNodeChange(values);
  const work = (commands: UpstreamCommands): Promise<Report> => action.run({ commands, node, values });
  if (server !== undefined)
    return work(remoteUpstreamCommands(server, readApiToken(environment, 'operator'), environment));
  // Here --ws, --grpc and --network belong to the node, not to the configuration.
  const configuration = loadConfiguration(configurationArguments({ ...parsed, tokens: [] }), environment);
  return withUpstreamCommands({ configuration, environment, actor: getAuditActor() }, work);
}

/** Command-line option for each API field. Fields of node options are named as in the configuration file. */
const optionNames = {
  ...{ name: 'NAME', network: '--network', url: '--url', ws: '--ws', grpc: '--grpc', headers: '--header' },
  ...{ requests_per_second: '--requests-per-second', requests_burst: '--requests-burst' },
  ...{ pipelining: '--pipelining', priority: '--priority', weight: '--weight', reason: '--reason' },
  ...{ methods: '--methods', archive: '--archive', indexes: '--indexes', region: '--region' },
};

export const command = actionCommand<Job>({ name: 'upstream', help, options, optionNames, actions, act });
