import { loadConfiguration } from '../../app/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  parseArguments,
} from '../../app/configuration-arguments.ts';
import { ConfigurationError, describeProblem } from '../../app/configuration-errors.ts';
import { showConfiguration } from '../../app/configuration-view.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';

const help = `Usage: solway config check [options]

Reads the configuration as a start would and says what is wrong with it, or shows what is in force.
Secrets are not shown.

Options:
  --config FILE     the file to check (default: SOLWAY_CONFIG, else solway.toml if there is one)
  --json            write JSON
  All options of "solway up" are understood and checked as well.

Examples:
  solway config check
  solway config check --config /etc/solway.toml
  solway config check --upstream https://host/path --json
`;

const options = { ...configurationOptions, json: { type: 'boolean' } } as const;

function showProblems(error: ConfigurationError, json: boolean, terminal: Terminal): number {
  if (json) terminal.out(`${JSON.stringify({ ok: false, problems: error.problems }, null, 2)}\n`);
  else terminal.err(error.problems.map((problem) => `${describeProblem(problem)}\n`).join(''));
  return exitCodes.problem;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const [action, file] = parsed.positionals;
  if (action !== 'check' || parsed.positionals.length > 2) throw new UsageError('write: solway config check');
  if (file !== undefined) throw new UsageError(`write: solway config check --config ${file}`);
  const json = parsed.values.json === true;
  try {
    const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
    const shown = JSON.stringify(showConfiguration(configuration), null, 2);
    const from = configuration.file ?? 'no file, so all defaults';
    terminal.out(
      json ? `{"ok":true,"configuration":${shown}}\n` : `The configuration is good (${from}):\n${shown}\n`,
    );
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof ConfigurationError) return showProblems(error, json, terminal);
    throw error;
  }
}

export const command: Command = { help, run };
