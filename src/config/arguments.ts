import { parseArgs } from 'node:util';
import { nearestName } from './camel-case.ts';

/** A node named on the command line. */
export type UpstreamArguments = { url: string; ws?: string; grpc?: string; network?: string; name?: string };

/** What the command line says about the configuration. */
export type ConfigurationArguments = Readonly<{
  config?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
  workers?: string | undefined;
  grpcPort?: string | undefined;
  dataDir?: string | undefined;
  dev?: boolean;
  logLevel?: string | undefined;
  /** Replace the nodes of the file when there are any. */
  upstreams: readonly UpstreamArguments[];
}>;

/** The command line cannot be understood; the message says what to write. */
export class ArgumentsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArgumentsError';
  }
}

/** Options of every command that reads the configuration, in the form of node:util parseArgs. */
export const configurationOptions = {
  config: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  workers: { type: 'string' },
  'grpc-port': { type: 'string' },
  'data-dir': { type: 'string' },
  dev: { type: 'boolean' },
  'log-level': { type: 'string' },
  upstream: { type: 'string', multiple: true },
  ws: { type: 'string', multiple: true },
  grpc: { type: 'string', multiple: true },
  network: { type: 'string', multiple: true },
} as const;

const UPSTREAMS_MAX = 256;
const upstreamDetails = ['ws', 'grpc', 'network'] as const;
type UpstreamDetail = (typeof upstreamDetails)[number];

type Token = Readonly<{ kind: string; name?: string; value?: string | undefined }>;

function addDetail(node: UpstreamArguments | undefined, name: UpstreamDetail, value: string): void {
  if (node === undefined) {
    throw new ArgumentsError(`--${name} belongs to the --upstream before it: write --upstream URL first`);
  }
  if (node[name] !== undefined) {
    throw new ArgumentsError(`--${name} is given twice for one --upstream: repeat --upstream for each node`);
  }
  node[name] = value;
}

/** Gathers the groups: each --ws, --grpc and --network belongs to the --upstream before it. */
function upstreamGroups(tokens: readonly Token[]): UpstreamArguments[] {
  const nodes: UpstreamArguments[] = [];
  for (const { kind, name, value } of tokens) {
    if (kind !== 'option' || value === undefined) continue;
    if (name === 'upstream') nodes.push({ url: value });
    else if (upstreamDetails.includes(name as UpstreamDetail)) {
      addDetail(nodes.at(-1), name as UpstreamDetail, value);
    }
  }
  if (nodes.length > UPSTREAMS_MAX)
    throw new ArgumentsError(`--upstream is given more than ${UPSTREAMS_MAX} times`);
  return nodes;
}

type Options = Readonly<
  Record<string, Readonly<{ type: 'string' | 'boolean'; multiple?: boolean; short?: string }>>
>;

/** Options and positionals of a command line. */
export type ParsedArguments = Readonly<{
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  positionals: readonly string[];
  tokens: readonly Token[];
}>;

function checkNames(tokens: readonly Token[], options: Options): void {
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || Object.hasOwn(options, name)) continue;
    const nearest = nearestName(name, Object.keys(options));
    const hint = nearest === null ? 'see --help' : `did you mean --${nearest}?`;
    throw new ArgumentsError(`there is no option --${name}: ${hint}`);
  }
}

/** node:util parseArgs with errors that say what to write. @throws ArgumentsError */
export function parseArguments(args: readonly string[], options: Options): ParsedArguments {
  const loose = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  checkNames(loose.tokens, options);
  for (const token of loose.tokens) {
    if (token.kind !== 'option') continue;
    const takesValue = options[token.name]?.type === 'string';
    if (takesValue && (token.value === undefined || token.value === '')) {
      throw new ArgumentsError(`--${token.name} needs a value`);
    }
    if (takesValue && !token.inlineValue && token.value?.startsWith('--')) {
      throw new ArgumentsError(`--${token.name} needs a value, and ${token.value} looks like an option`);
    }
    if (!takesValue && token.value !== undefined) throw new ArgumentsError(`--${token.name} takes no value`);
  }
  return loose;
}

/** What the parsed command line says about the configuration. @throws ArgumentsError */
export function configurationArguments({ values, tokens }: ParsedArguments): ConfigurationArguments {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    config: text('config'),
    host: text('host'),
    port: text('port'),
    workers: text('workers'),
    grpcPort: text('grpc-port'),
    dataDir: text('data-dir'),
    dev: values.dev === true,
    logLevel: text('log-level'),
    upstreams: upstreamGroups(tokens),
  };
}
