import { configurationWarnings, nodesByNetwork } from '../../app/configuration-warnings.ts';
import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { ArgumentsError, ConfigurationError, describeProblem } from '../../config/errors.ts';
import { showConfiguration } from '../../config/render.ts';
import { configurationArguments, configurationOptions, parseArguments } from '../../config/sources.ts';
import { type Command, exitCodes, type Terminal } from '../command.ts';

const help = `Usage: solway config <action> [options]

Actions:
  check             load the configuration as at startup, and report errors and warnings
  show              print every option with its value, including defaults; secrets are redacted

Options:
  --config FILE     configuration file (default: SOLWAY_CONFIG, else solway.toml if it exists)
  --json            print JSON; with check it includes the whole configuration
  All options of "solway up" are accepted and checked as well.

Examples:
  solway config check
  solway config check --config /etc/solway.toml
  solway config show
  solway config check --upstream https://host/path --json
`;

const options = { ...configurationOptions, json: { type: 'boolean' } } as const;

function showProblems(error: ConfigurationError, json: boolean, terminal: Terminal): number {
  if (json) terminal.out(`${JSON.stringify({ ok: false, problems: error.problems }, null, 2)}\n`);
  else terminal.err(error.problems.map((problem) => `${describeProblem(problem)}\n`).join(''));
  return exitCodes.problem;
}

function summaryOf(configuration: Configuration, warnings: readonly string[]): string {
  const networks = [...nodesByNetwork(configuration)].map(([network, nodes]) => `${nodes} of ${network}`);
  const lines = [
    `Configuration valid: ${configuration.file ?? 'no file, only defaults'}`,
    `Nodes: ${networks.length === 0 ? 'none' : networks.join(', ')}`,
    ...warnings.map((warning) => `Warning: ${warning}`),
  ];
  return `${lines.join('\n')}\n`;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  const [action, file] = parsed.positionals;
  if ((action !== 'check' && action !== 'show') || parsed.positionals.length > 2)
    throw new ArgumentsError('use solway config check or solway config show');
  if (file !== undefined)
    throw new ArgumentsError(`unexpected argument "${file}": use solway config ${action} --config ${file}`);
  const json = parsed.values.json === true;
  try {
    const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
    const output = showConfiguration(configuration);
    const warnings = configurationWarnings(configuration, terminal.environment);
    const whole = action === 'show' ? output : { ok: true, warnings, configuration: output };
    if (json || action === 'show') terminal.out(`${JSON.stringify(whole, null, 2)}\n`);
    else terminal.out(summaryOf(configuration, warnings));
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof ConfigurationError) return showProblems(error, json, terminal);
    throw error;
  }
}

export const command: Command = { help, run };
