import { loadConfiguration } from '../../app/configuration.ts';
import {
  configurationArguments,
  configurationOptions,
  type ParsedArguments,
  parseArguments,
} from '../../app/configuration-arguments.ts';
import { pagesUrl } from '../../app/operator-commands.ts';
import { reloadService } from '../../app/upstream-commands.ts';
import { type Command, exitCodes, type Terminal, UsageError } from '../command.ts';
import { tokenIn } from '../token-in.ts';

const help = `Usage: solway reload [options]

Lets a running service read its configuration again: file, environment and command line, as it was
started with them. All of it is checked before any of it is in force: a mistake changes nothing, and
is told. What cannot change while the service runs is named, and waits for a restart. SIGHUP does the
same, and says in the log what came of it; it also reads certificates again, which happens by itself
where their files change.

It needs an operator's token in SOLWAY_TOKEN, made in the dashboard under Settings, "Operator's tokens".

Options:
  --server URL                     the service (default: where this machine's configuration says it listens)
  --config FILE                    the configuration that says so
  --json                           write JSON

Examples:
  solway reload
  solway reload --server https://solway.example.com
`;

const options = { ...configurationOptions, server: { type: 'string' }, json: { type: 'boolean' } } as const;

const sentence = (fields: readonly string[], words: string): string[] =>
  fields.length === 0 ? [] : [`${words}: ${fields.join(', ')}.`];

function textOf({ changed, restart }: Awaited<ReturnType<typeof reloadService>>): string {
  const lines = [...sentence(changed, 'In force now'), ...sentence(restart, 'These need a restart')];
  return `${lines.length === 0 ? 'Nothing changed.' : lines.join('\n')}\n`;
}

function urlOf(parsed: ParsedArguments, environment: Terminal['environment']): string {
  const { server } = parsed.values as { server?: string };
  return server ?? pagesUrl(loadConfiguration(configurationArguments(parsed), environment));
}

async function run(args: readonly string[], { environment, out }: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  if (parsed.positionals.length > 0)
    throw new UsageError(`"${parsed.positionals[0]}" is not understood: see solway reload --help`);
  const token = tokenIn(environment, 'operator');
  const reloaded = await reloadService(urlOf(parsed, environment), token);
  out(parsed.values.json === true ? `${JSON.stringify(reloaded)}\n` : textOf(reloaded));
  return exitCodes.ok;
}

export const command: Command = { help, run };
