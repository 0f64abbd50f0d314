import {
  type CustomerCommands,
  type CustomerRow,
  remoteCustomerCommands,
  withCustomerCommands,
} from '../../app/commands/customers.ts';
import { ArgumentsError } from '../../config/errors.ts';
import { configurationOptions, type OptionValues } from '../../config/sources.ts';
import { type Action, actionCommand, type Invocation, storeConfiguration, text } from '../action-command.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { tableText } from '../table-text.ts';

const help = `Usage: solway customers <action> [options]

Actions:
  list                list the customers
    --search TEXT     only customers whose name contains TEXT, or with that customer id, key id or member email
    --state STATE     active or suspended
    --plan NAME       only customers of one plan
    --sort FIELD      name or createdAt; prefix with - for descending order (default: by id)
    --limit N         at most N customers (default: 100)
  delete ID           delete a customer permanently: its keys are revoked, its connections close, and its members,
                      tokens, wallets and logs are deleted; usage totals and audit entries stay under its id
    --name NAME       the customer's name, as a confirmation; required

Options of all actions:
  --config FILE, --data-dir DIR    configuration and data folder to use
  --server URL                     use a service on another machine, with an operator's token in SOLWAY_TOKEN
  --json                           print JSON

Examples:
  solway customers list --search acme --sort=-createdAt
  solway customers delete 4f1c0a9be2d37586 --name "Acme"
`;

const customerOptions = {
  ...{ server: text, search: text, state: text, plan: text, sort: text, limit: text, name: text },
};

type Values = OptionValues<typeof customerOptions>;
type Job = Readonly<{ commands: CustomerCommands; values: Values; id: string }>;

const LIMIT = 100;

function customerTable(rows: readonly CustomerRow[]): string {
  if (rows.length === 0) return 'No matching customers.\n';
  const lines = rows.map(({ id, name, planId, state, createdAt, members, keys, creditsUsed }) => [
    ...[id, state, planId, createdAt === 0 ? '-' : new Date(createdAt).toISOString().slice(0, 10)],
    ...[String(members), String(keys), String(creditsUsed), name],
  ]);
  return tableText([['ID', 'STATE', 'PLAN', 'CREATED', 'MEMBERS', 'KEYS', 'CREDITS', 'NAME'], ...lines]);
}

function parseLimit(given: string | undefined): number {
  if (given === undefined) return LIMIT;
  const limit = Number(given);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new ArgumentsError('invalid --limit: use a whole number from 1');
}

const actions = {
  list: {
    options: ['search', 'state', 'plan', 'sort', 'limit'],
    async run({ commands, values }) {
      const { search, state, plan, sort, limit } = values;
      const customers = await commands.list({ search, state, plan, sort } as never, parseLimit(limit));
      return { text: customerTable(customers), json: { customers } };
    },
  },
  delete: {
    argument: 'ID',
    options: ['name'],
    async run({ commands, values: { name }, id }) {
      if (name === undefined)
        throw new ArgumentsError('missing option --name: repeat the name of the customer to confirm');
      await commands.delete(id, name);
      return { text: `Deleted customer ${id}.\n`, json: { done: true } };
    },
  },
} satisfies Record<string, Action<Job>>;

async function act(action: Action<Job>, { argument: id, parsed, terminal: { environment } }: Invocation) {
  const values = parsed.values as Values;
  const { server } = values;
  if (server !== undefined) {
    const commands = remoteCustomerCommands({ url: server, token: readApiToken(environment, 'operator') });
    return action.run({ commands, values, id });
  }
  const configuration = storeConfiguration(parsed, environment);
  const commandOptions = { configuration, environment, actor: getAuditActor() };
  return withCustomerCommands(commandOptions, (commands) => action.run({ commands, values, id }));
}

const optionNames = {
  ...{ search: '--search', state: '--state', plan: '--plan', sort: '--sort', name: '--name' },
};

export const command = actionCommand<Job>({
  ...{ name: 'customers', help, optionNames, actions, act },
  options: { ...configurationOptions, ...customerOptions },
});
