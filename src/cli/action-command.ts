import { type Configuration, loadConfiguration } from '../config/configuration.ts';
import { ArgumentsError } from '../config/errors.ts';
import {
  configurationArguments,
  type Environment,
  type ParsedArguments,
  parseArguments,
} from '../config/sources.ts';
import { type Command, exitCodes, rejectArgument, type Terminal } from './command.ts';

/** Types of command-line options. */
export const text = { type: 'string' } as const;
export const list = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;

export type Report = Readonly<{ text: string; json: unknown }>;

export type Action<Job> = Readonly<{
  /** Name of the action's argument in the help text, such as KEY; absent if it takes none. */
  argument?: string;
  /** Options in addition to those that all actions of the command accept. */
  options?: readonly string[];
  run: (job: Job) => Promise<Report>;
}>;

export type Invocation = Readonly<{ argument: string; parsed: ParsedArguments; terminal: Terminal }>;

type ActionCommand<Job> = Readonly<{
  name: string;
  help: string;
  options: Parameters<typeof parseArguments>[1];
  optionNames?: Command['optionNames'];
  actions: Readonly<Record<string, Action<Job>>>;
  act: (action: Action<Job>, invocation: Invocation) => Promise<Report>;
}>;

function chooseAction<Job>(
  { name: command, actions }: Pick<ActionCommand<Job>, 'name' | 'actions'>,
  { positionals, values }: ParsedArguments,
): Action<Job> {
  const [name, argument, ...more] = positionals;
  const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const problem = name === undefined ? 'missing action' : `unknown action "${name.slice(0, 40)}"`;
    const names = Object.keys(actions).join(', ');
    throw new ArgumentsError(`${problem}: use one of ${names} (see solway ${command} --help)`);
  }
  if (action.argument !== undefined && argument === undefined)
    throw new ArgumentsError(`missing argument: solway ${command} ${name} ${action.argument}`);
  rejectArgument(command, action.argument === undefined ? argument : more[0]);
  const ofActions = Object.values(actions).flatMap(({ options = [] }) => options);
  const stray = ofActions.find((one) => values[one] !== undefined && !action.options?.includes(one));
  if (stray !== undefined)
    throw new ArgumentsError(
      `solway ${command} ${name} does not accept --${stray}: see solway ${command} --help`,
    );
  return action;
}

export function actionCommand<Job>(command: ActionCommand<Job>): Command {
  return {
    help: command.help,
    optionNames: command.optionNames ?? {},
    async run(args, terminal) {
      const parsed = parseArguments(args, { ...command.options, json: { type: 'boolean' } });
      const action = chooseAction(command, parsed);
      const argument = parsed.positionals[1] ?? '';
      const report = await command.act(action, { argument, parsed, terminal });
      terminal.out(parsed.values.json === true ? `${JSON.stringify(report.json)}\n` : report.text);
      return exitCodes.ok;
    },
  };
}

/** Loads the configuration for commands that use only the store. @throws ConfigurationError */
export const storeConfiguration = (parsed: ParsedArguments, environment: Environment): Configuration =>
  loadConfiguration({ ...configurationArguments(parsed), ignoresNodes: true }, environment);
