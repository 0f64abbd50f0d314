import { dashboardUrl } from '../../app/commands/operators.ts';
import { type ReloadResult, reloadLocally, reloadRemotely } from '../../app/reload-commands.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { loadConfiguration, loadDataDir } from '../../config/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../config/sources.ts';
import { getAuditActor, readApiToken } from '../api-token.ts';
import { type Command, exitCodes, rejectArgument, type Terminal } from '../command.ts';

const help = `Usage: solway reload [options]

Reloads the configuration of a running service: its file, environment and command line. The whole
configuration is checked first. If it is rejected, nothing changes, and the command prints the reasons
and exits with code 1. Changed options that need a restart are listed. SIGHUP does the same and logs
the result; it also reloads certificates, which otherwise happens when their files change.

The service on this machine is found by its data folder; run the command as the user that runs the
service, or as root. A service on another machine needs --server and an operator's token in
SOLWAY_TOKEN. Create one in the dashboard under Settings, "Operator tokens".

Options:
  --config FILE, --data-dir DIR    the data folder of the service
  --server URL                     a service on another machine
  --json                           print JSON

Examples:
  solway reload
  solway reload --config /etc/solway.toml
  solway reload --server https://solway.example.com
`;

const options = { ...configurationOptions, server: { type: 'string' }, json: { type: 'boolean' } } as const;

const sentence = (fields: readonly string[], label: string): string[] =>
  fields.length === 0 ? [] : [`${label}: ${fields.join(', ')}.`];

function textOf({ changed, restart }: ReloadResult): string {
  const lines = [...sentence(changed, 'Applied'), ...sentence(restart, 'Restart required for')];
  return `${lines.length === 0 ? 'Nothing changed.' : lines.join('\n')}\n`;
}

type Environment = Terminal['environment'];

async function reloadHere(parsed: ParsedArguments, environment: Environment): Promise<ReloadResult> {
  const given = configurationArguments(parsed);
  const dataDir = loadDataDir(given, environment);
  const reloaded = await reloadLocally(dataDir, getAuditActor());
  if (reloaded !== null) return reloaded;
  // If the data folder is inaccessible, for example in a container, the service is reached by its URL.
  if (environment.SOLWAY_TOKEN)
    return reloadRemotely(
      dashboardUrl(loadConfiguration(given, environment)),
      readApiToken(environment, 'operator'),
    );
  throw new OperatorError(
    `no running service uses the data folder ${dataDir}: pass its --data-dir or --config, or use --server ` +
      'and a token in SOLWAY_TOKEN for a service on another machine',
  );
}

async function reload(parsed: ParsedArguments, environment: Environment): Promise<ReloadResult> {
  const { server } = parsed.values;
  if (typeof server !== 'string') return reloadHere(parsed, environment);
  return reloadRemotely(server, readApiToken(environment, 'operator'));
}

async function run(args: readonly string[], { environment, out }: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  rejectArgument('reload', parsed.positionals[0]);
  const reloaded = await reload(parsed, environment);
  out(parsed.values.json === true ? `${JSON.stringify(reloaded)}\n` : textOf(reloaded));
  return exitCodes.ok;
}

export const command: Command = { help, run };
