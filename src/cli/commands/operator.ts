import { type OperatorCommands, withOperatorCommands } from '../../app/commands/operators.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../config/sources.ts';
import { getAuditActor } from '../api-token.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';

const help = `Usage: solway operator <action> [options]

Operators run this service: they see all customers and every setting. Each signs in on the dashboard.

Actions:
  invite              print a link with which somebody becomes an operator; it works once, for seven days
    --email ADDRESS   only for whoever has this address
  list                show the operators
  remove ADDRESS      take an operator's rights away; the account stays
  password ADDRESS    print a link with which somebody who forgot the password sets a new one, within an hour

Options of all actions:
  --config FILE, --data-dir DIR    where the accounts are kept
  --host HOST, --port PORT         where the service listens, for links: where accounts.public_url does not say
                                   it, and none runs on this machine that tells it
  --json                           write JSON

Examples:
  solway operator invite --email anna@example.com
  solway operator password anna@example.com
`;

const options = {
  ...configurationOptions,
  json: { type: 'boolean' },
  email: { type: 'string' },
} as const;

type Report = Readonly<{ text: string; json: unknown }>;

/** A link to a wrong port would send its token to another program. */
function urlNote({ pages: { url, from } }: OperatorCommands): string {
  if (from === 'running')
    return `It leads to the service that runs here, at ${url}: for people who reach it elsewhere, set\naccounts.public_url.\n`;
  if (from !== 'assumed') return '';
  return `It is for a service at ${url}: if yours is elsewhere, give its --host and --port, or set\naccounts.public_url.\n`;
}

type Action = Readonly<{
  takesAddress: boolean;
  does(commands: OperatorCommands, address: string, email: string | null): Promise<Report>;
}>;

const actions: Readonly<Record<string, Action>> = {
  invite: {
    takesAddress: false,
    async does(commands, _address, email) {
      const link = await commands.invite(email);
      return {
        text: `${link}\n\nWhoever opens it becomes an operator. It is shown this once.\n${urlNote(commands)}`,
        json: { link },
      };
    },
  },
  list: {
    takesAddress: false,
    async does(commands) {
      const operators = await commands.list();
      const lines = operators.map(
        ({ email, name, twoFactor }) => `${email}  ${name}  ${twoFactor ? 'two factors' : 'password only'}\n`,
      );
      const text = lines.length === 0 ? 'There is no operator yet: solway operator invite\n' : lines.join('');
      return { text, json: { operators } };
    },
  },
  remove: {
    takesAddress: true,
    async does(commands, address) {
      await commands.remove(address);
      return { text: `${address} is no operator any more.\n`, json: { done: true } };
    },
  },
  password: {
    takesAddress: true,
    async does(commands, address) {
      const link = await commands.passwordLink(address);
      return { text: `${link}\n\n${urlNote(commands)}`, json: { link } };
    },
  },
};

/** @throws UsageError */
function chooseAction({ positionals, values }: ParsedArguments): Action {
  const [name = '', address, ...more] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined)
    throw new UsageError(
      `write: solway operator ${Object.keys(actions).join('|')} (see solway operator --help)`,
    );
  if (action.takesAddress && address === undefined)
    throw new UsageError(`name the address: solway operator ${name} ADDRESS`);
  if (more.length > 0 || (!action.takesAddress && address !== undefined))
    throw new UsageError(
      `solway operator ${name} takes ${action.takesAddress ? 'one address' : 'options only'}: see --help`,
    );
  if (values.email !== undefined && name !== 'invite')
    throw new UsageError(`solway operator ${name} takes no --email: see solway operator --help`);
  return action;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const action = chooseAction(parsed);
  const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
  const { json, email } = parsed.values as { json?: boolean; email?: string };
  const isAddressGiven = parsed.values.host !== undefined || parsed.values.port !== undefined;
  const commandOptions = {
    configuration,
    environment: terminal.environment,
    actor: getAuditActor(),
    isAddressGiven,
  };
  const report = await withOperatorCommands(commandOptions, (commands) =>
    action.does(commands, parsed.positionals[1] ?? '', email ?? null),
  );
  terminal.out(json === true ? `${JSON.stringify(report.json)}\n` : report.text);
  return exitCodes.ok;
}

export const command: Command = { help, run };
