import {
  type PlanCommands,
  type PlanInput,
  remotePlanCommands,
  withPlanCommands,
} from '../../app/commands/plans.ts';
import { camelCase } from '../../base/camel-case.ts';
import { ArgumentsError } from '../../config/errors.ts';
import { configurationOptions, type OptionValues } from '../../config/sources.ts';
import {
  type Action,
  actionCommand,
  list,
  type Report,
  storeConfiguration,
  text,
} from '../action-command.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { tableText } from '../table-text.ts';

const help = `Usage: solway plans <action> [options]

Actions:
  list                list the plans
  create ID           create a plan
  change PLAN         change a plan that is not in the configuration
    --name TEXT       name in the dashboard
    --limit NAME=VALUE
                      as in the configuration; repeat as needed
    --price CODE,MONTHLY,INCLUDED,MILLION
                      currency, monthly price, included credits, and price of a million more, in minor units;
                      or none
  undo PLAN           undo the last change
  archive PLAN        stop offering a plan; customers and keys keep it
  restore PLAN        restore an archived plan
  delete PLAN         delete a plan that was never used

Options of all actions:
  --config FILE, --data-dir DIR    configuration and data folder to use
  --server URL                     use a service on another machine, with an operator's token in SOLWAY_TOKEN
  --json                           print JSON

Example:
  solway plans create team --limit monthly_credits=1000000 --price usd,4900,1000000,500
`;

const options = { ...configurationOptions, server: text, name: text, limit: list, price: text };

type Values = OptionValues<typeof options>;
type Job = Readonly<{ commands: PlanCommands; id: string; values: Values }>;
type Plan = Awaited<ReturnType<PlanCommands['create']>>;

function limitOf(pair: string): [string, number | boolean] {
  const [, limit = '', value = ''] = /^([a-z_]+)=(\d{1,15}|true|false)$/.exec(pair) ?? [];
  if (limit === '') throw new ArgumentsError('--limit must be NAME=VALUE such as monthly_credits=1000000');
  return [camelCase(limit), /^\d/.test(value) ? Number(value) : value === 'true'];
}

function priceOf(written: string): PlanInput['price'] {
  if (written === 'none') return null;
  const match = /^([a-z]{3}),(\d{1,13}),(\d{1,15}),(\d{1,13})$/.exec(written);
  if (match === null)
    throw new ArgumentsError(
      '--price must be CODE,MONTHLY,INCLUDED,MILLION such as usd,4900,1000000,500, or none',
    );
  const [, currency = '', monthly, included, million] = match;
  return {
    currency,
    monthlyPrice: Number(monthly),
    includedCredits: Number(included),
    pricePerMillion: Number(million),
  };
}

const inputOf = ({ name, limit = [], price }: Values): PlanInput => ({
  ...(name !== undefined && { name }),
  limits: Object.fromEntries(limit.map(limitOf)),
  ...(price !== undefined && { price: priceOf(price) }),
});

const rowOf = ({ id, name, source, price, customers, keys, limits, archivedAt }: Plan): string[] => [
  ...[id, name, archivedAt === null ? source : `${source}, archived`, String(limits.monthlyCredits)],
  price === null
    ? '-'
    : `${price.currency} ${price.monthlyPrice} + ${price.pricePerMillion}/million above ${price.includedCredits}`,
  ...[String(customers), String(keys)],
];

const HEAD = ['PLAN', 'NAME', 'SOURCE', 'CREDITS', 'PRICE', 'CUSTOMERS', 'KEYS'];

const report = (plans: readonly Plan[], json: unknown): Report => ({
  text: tableText([HEAD, ...plans.map(rowOf)]),
  json,
});

const fields = ['name', 'limit', 'price'];

const onPlan = (
  work: (commands: PlanCommands, id: string, values: Values) => Promise<Plan>,
  argument = 'PLAN',
  own: readonly string[] = [],
): Action<Job> => ({
  argument,
  options: own,
  async run({ commands, id, values }) {
    const plan = await work(commands, id, values);
    return report([plan], plan);
  },
});

const actions: Readonly<Record<string, Action<Job>>> = {
  list: {
    async run({ commands }) {
      const plans = await commands.list();
      return report(plans, { plans });
    },
  },
  create: onPlan((commands, id, values) => commands.create(id, inputOf(values)), 'ID', fields),
  change: onPlan((commands, id, values) => commands.change(id, inputOf(values)), 'PLAN', fields),
  undo: onPlan((commands, id) => commands.undo(id)),
  archive: onPlan((commands, id) => commands.archive(id)),
  restore: onPlan((commands, id) => commands.restore(id)),
  delete: {
    argument: 'PLAN',
    async run({ commands, id }) {
      await commands.delete(id);
      return { text: `Deleted the plan ${id}.\n`, json: { done: true } };
    },
  },
};

export const command = actionCommand<Job>({
  ...{ name: 'plans', help, options, actions },
  optionNames: { id: 'ID', name: '--name', limits: '--limit', price: '--price' },
  act(action, { argument: id, parsed, terminal: { environment } }) {
    const values = parsed.values as Values;
    // Reports invalid options before anything is opened.
    inputOf(values);
    const work = (commands: PlanCommands): Promise<Report> => action.run({ commands, id, values });
    if (values.server !== undefined)
      return work(remotePlanCommands(values.server, readApiToken(environment, 'operator')));
    const configuration = storeConfiguration(parsed, environment);
    return withPlanCommands({ configuration, environment, actor: getAuditActor() }, work);
  },
});
