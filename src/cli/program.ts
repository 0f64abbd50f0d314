import { withOptionNames } from '../app/commands/option-names.ts';
import { errorText, isArgumentsError } from '../app/error-text.ts';
import { PROGRAM_VERSION } from '../app/program-version.ts';
import { ArgumentsError } from '../config/errors.ts';
import { nearestName } from '../config/value-types.ts';
import { type Command, exitCodes, type Terminal } from './command.ts';

type Row = Readonly<{ summary: string; load: () => Promise<{ command: Command }> }>;

/** Commands, loaded on demand for a fast startup. */
const commands: Readonly<Record<string, Row>> = {
  up: { summary: 'run the service', load: () => import('./commands/up.ts') },
  localnet: {
    summary: 'run the embedded ledger alone, in place of solana-test-validator',
    load: () => import('./commands/localnet.ts'),
  },
  keys: { summary: 'create, list, rotate and revoke API keys', load: () => import('./commands/keys.ts') },
  customers: { summary: 'list and delete customers', load: () => import('./commands/customers.ts') },
  plans: {
    summary: 'create, change, archive and delete plans',
    load: () => import('./commands/plans.ts'),
  },
  upstream: {
    summary: 'list, add, cordon, drain and remove nodes while the service runs',
    load: () => import('./commands/upstream.ts'),
  },
  reload: {
    summary: 'reload the configuration of a running service',
    load: () => import('./commands/reload.ts'),
  },
  db: {
    summary: 'migrate, back up, restore and move the database',
    load: () => import('./commands/db.ts'),
  },
  operator: {
    summary: 'invite, list and remove operators',
    load: () => import('./commands/operator.ts'),
  },
  config: { summary: 'check or show the configuration', load: () => import('./commands/config.ts') },
  doctor: {
    summary: 'check everything the service needs and report how to fix it',
    load: () => import('./commands/doctor.ts'),
  },
};

const width = Math.max(...Object.keys(commands).map((name) => name.length));

const help = `Usage: solway <command> [options]

Commands:
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  .join('\n')}

Options:
  --help     show the help of a command: solway keys --help
  --version  show the version

Exit codes: 0 success, 1 a problem was found, 2 invalid command line.
`;

function unknownCommand(name: string): string {
  const nearest = nearestName(name, Object.keys(commands));
  const hint = nearest === null ? 'see solway --help' : `did you mean "solway ${nearest}"?`;
  return `unknown command "${name.slice(0, 40)}": ${hint}`;
}

function fail(error: unknown, json: boolean, terminal: Terminal): number {
  const usage = isArgumentsError(error);
  const text = usage ? error.message : errorText(error);
  if (json) terminal.out(`${JSON.stringify({ error: text })}\n`);
  else terminal.err(`solway: ${text}\n`);
  return usage ? exitCodes.usage : exitCodes.problem;
}

async function runCommand(name: string, args: readonly string[], terminal: Terminal): Promise<number> {
  const row = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (row === undefined) throw new ArgumentsError(unknownCommand(name));
  const { command } = await row.load();
  if (args.includes('--help') || args.includes('-h')) {
    terminal.out(command.help);
    return exitCodes.ok;
  }
  return command.run(args, terminal).catch((error: unknown) => {
    throw withOptionNames(error, command.optionNames ?? {});
  });
}

/** Runs `solway …`. Never rejects. @returns the exit code. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version') {
    terminal.out(`${PROGRAM_VERSION}\n`);
    return exitCodes.ok;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name === undefined ? terminal.err : terminal.out)(help);
    return name === undefined ? exitCodes.usage : exitCodes.ok;
  }
  try {
    return await runCommand(name, rest, terminal);
  } catch (error) {
    return fail(error, rest.includes('--json'), terminal);
  }
}
