import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import {
  ArgumentsError,
  ConfigurationError,
  type Problem,
  SecretReferenceError,
  type SourceOf,
} from './errors.ts';
import { extractOldNames } from './old-names.ts';
import type { Option } from './option.ts';
import { entries, publicEntries, singleOptions } from './schema.ts';
import { NODES_MAX } from './schema-upstream.ts';
import { isTable, type Table } from './table.ts';
import { nearestName } from './value-types.ts';

/** Sources of the configuration. The command line overrides the environment, which overrides the file. */

export type Environment = Readonly<Record<string, string | undefined>>;

type UpstreamArguments = { url: string; ws?: string; grpc?: string; network?: string; name?: string };

export type ConfigurationArguments = Readonly<{
  config?: string | undefined;
  flags?: Readonly<Record<string, string | true>>;
  /** If not empty, replaces the nodes in the file. */
  upstreams: readonly UpstreamArguments[];
  /** Ignores nodes and senders, for commands that do not call them and whose environment may lack their secrets. */
  ignoresNodes?: boolean;
}>;

type Options = Readonly<
  Record<string, Readonly<{ type: 'string' | 'boolean'; multiple?: boolean; short?: string }>>
>;

/** Types of the values that `parseArguments` returns for a table of options. */
export type OptionValues<Table extends Options> = {
  readonly [Name in keyof Table]?: Table[Name] extends { type: 'boolean' }
    ? boolean
    : Table[Name] extends { multiple: true }
      ? readonly string[]
      : string;
};

/** Dotted option names by environment variable or by flag. */
const fieldsBy = (source: 'env' | 'flag'): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...singleOptions].flatMap(([field, option]) => {
      const name = option[source];
      return name === undefined ? [] : [[name, field]];
    }),
  );

export const environmentFields = fieldsBy('env');
const flagFields = fieldsBy('flag');

const isBoolean = (field: string): boolean => typeof singleOptions.get(field)?.default === 'boolean';

/** Options shared by all commands that read the configuration, in the format of node:util parseArgs. */
export const configurationOptions: Options = {
  config: { type: 'string' },
  ...Object.fromEntries(
    Object.entries(flagFields).map(([flag, field]) => [
      flag,
      { type: isBoolean(field) ? ('boolean' as const) : ('string' as const) },
    ]),
  ),
  upstream: { type: 'string', multiple: true },
  ws: { type: 'string', multiple: true },
  grpc: { type: 'string', multiple: true },
  network: { type: 'string', multiple: true },
};

const upstreamDetails = ['ws', 'grpc', 'network'] as const;
type UpstreamDetail = (typeof upstreamDetails)[number];

type Token = Readonly<{ kind: string; name?: string; value?: string | undefined }>;

function addDetail(node: UpstreamArguments | undefined, name: UpstreamDetail, value: string): void {
  if (node === undefined)
    throw new ArgumentsError(`--${name} belongs to the --upstream before it: write --upstream URL first`);
  if (node[name] !== undefined)
    throw new ArgumentsError(`--${name} is given twice for one --upstream: repeat --upstream for each node`);
  node[name] = value;
}

/** Nodes on the command line: each --ws, --grpc and --network belongs to the --upstream before it. */
function upstreamGroups(tokens: readonly Token[]): UpstreamArguments[] {
  const nodes: UpstreamArguments[] = [];
  for (const { kind, name, value } of tokens) {
    if (kind !== 'option' || value === undefined) continue;
    if (name === 'upstream') nodes.push({ url: value });
    else if (upstreamDetails.includes(name as UpstreamDetail))
      addDetail(nodes.at(-1), name as UpstreamDetail, value);
  }
  if (nodes.length > NODES_MAX) throw new ArgumentsError(`--upstream is given more than ${NODES_MAX} times`);
  return nodes;
}

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
    throw new ArgumentsError(`unknown option --${name}: ${hint}`);
  }
}

/** Like parseArgs of node:util, but errors say what to write. @throws ArgumentsError */
export function parseArguments(args: readonly string[], options: Options): ParsedArguments {
  const loose = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  checkNames(loose.tokens, options);
  for (const token of loose.tokens) {
    if (token.kind !== 'option') continue;
    const takesValue = options[token.name]?.type === 'string';
    if (takesValue && (token.value === undefined || token.value === ''))
      throw new ArgumentsError(`--${token.name} needs a value`);
    if (takesValue && !token.inlineValue && token.value?.startsWith('--'))
      throw new ArgumentsError(`--${token.name} needs a value, and ${token.value} looks like an option`);
    if (!takesValue && token.value !== undefined) throw new ArgumentsError(`--${token.name} takes no value`);
  }
  return loose;
}

/** @throws ArgumentsError */
export function configurationArguments({ values, tokens }: ParsedArguments): ConfigurationArguments {
  const flags = Object.keys(flagFields).flatMap((flag): [string, string | true][] => {
    const value = values[flag];
    return typeof value === 'string' || value === true ? [[flag, value]] : [];
  });
  const config = typeof values.config === 'string' ? values.config : undefined;
  return { config, flags: Object.fromEntries(flags), upstreams: upstreamGroups(tokens) };
}

const FILE_BYTES_MAX = 1024 * 1024;
const DEFAULT_FILE = 'solway.toml';

/** For developers and tests only: the value "allow" lets the file set fixed limits under `[internal.<section>]`. */
export const INTERNAL_LIMITS_VARIABLE = 'SOLWAY_INTERNAL_LIMITS';

/** Merged values before validation. Options are named as in the file. */
export type Sources = Readonly<{
  raw: Table;
  file: string | null;
  sourceOf: SourceOf;
  /** Problems with option names from earlier versions. */
  problems: readonly Problem[];
  internal: Table;
}>;

function fail(source: string, message: string): never {
  throw new ConfigurationError([{ source, field: '', message }]);
}

const readProblems: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EISDIR: 'is a folder: name a file',
};

function readToml(file: string, displayName: string): Table {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    fail(displayName, readProblems[code] ?? 'the file cannot be read: give this user read permission');
  }
  if (text.length > FILE_BYTES_MAX) fail(displayName, 'the file is larger than 1 MiB');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the message quotes the file, which may hold secrets.
    const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
    fail(displayName, `invalid TOML at line ${error.line}, column ${error.column}: ${reason}`);
  }
}

/** Path of the file: --config, else SOLWAY_CONFIG, else solway.toml in the working directory, else null. */
function chooseFile(args: ConfigurationArguments, environment: Environment): string | null {
  const named = args.config ?? (environment.SOLWAY_CONFIG || undefined);
  if (named !== undefined) return named;
  return existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null;
}

/** Converts text from a variable or flag. Text that cannot be converted is kept, so that validation rejects it. */
function scalar(field: string, value: string | true): string | number | boolean {
  if (value === true) return value;
  if (isBoolean(field) && /^(true|false|1|0)$/.test(value)) return value === 'true' || value === '1';
  return typeof singleOptions.get(field)?.default === 'number' && /^\d{1,9}$/.test(value)
    ? Number(value)
    : value;
}

type SourceNames = Map<string, string>;

function put(raw: Table, field: string, value: unknown, names: SourceNames, source: string): void {
  const path = field.split('.');
  const last = path.pop()!;
  let table = raw;
  for (const name of path) {
    // A value that is not a table is a mistake in the file, which validation reports.
    if (!isTable(table[name] ?? {})) return;
    table[name] = { ...(table[name] as Table | undefined) };
    table = table[name] as Table;
  }
  table[last] = value;
  names.set(field, source);
}

function putEnvironment(raw: Table, environment: Environment, names: SourceNames): void {
  for (const [variable, field] of Object.entries(environmentFields)) {
    const value = environment[variable];
    if (value) put(raw, field, scalar(field, value), names, variable);
  }
}

function putArguments(
  raw: Table,
  { flags = {}, upstreams }: ConfigurationArguments,
  names: SourceNames,
): void {
  for (const [flag, value] of Object.entries(flags)) {
    const field = flagFields[flag];
    if (field !== undefined) put(raw, field, scalar(field, value), names, `--${flag}`);
  }
  if (upstreams.length === 0) return;
  put(raw, 'upstream', upstreams, names, '--upstream');
  upstreams.forEach((node, index) => {
    const ordinal = upstreams.length > 1 ? ` (${index + 1})` : '';
    for (const name of Object.keys(node))
      names.set(`upstream[${index}].${name}`, `--${name === 'url' ? 'upstream' : name}${ordinal}`);
  });
}

function sourceFinder(names: SourceNames, fallback: string): SourceOf {
  return (field) => {
    const source = names.get(field);
    // The name of the flag or variable is enough, so `field` is empty.
    return source === undefined ? { source: fallback, field } : { source, field: '' };
  };
}

const sections = new Map(Object.entries(entries));
const fileNames: ReadonlySet<string> = new Set(publicEntries.map(([name]) => name));

type WrittenSources = Omit<Sources, 'internal'> & Readonly<{ folder: string }>;

/** Merges the sources without resolving references. @throws ConfigurationError for an unreadable file */
export function readUnresolvedSources(
  args: ConfigurationArguments,
  environment: Environment,
): WrittenSources {
  const displayName = chooseFile(args, environment);
  const file = displayName === null ? null : resolve(displayName);
  const source = displayName ?? 'configuration';
  const written = file === null || displayName === null ? {} : readToml(file, displayName);
  const { raw, problems } = extractOldNames(written, sections, (name) => fileNames.has(name));
  const names: SourceNames = new Map();
  putEnvironment(raw, environment, names);
  putArguments(raw, args, names);
  if (args.ignoresNodes === true) {
    delete raw.upstream;
    delete raw.sender;
  }
  return {
    ...{ raw, file },
    sourceOf: sourceFinder(names, source),
    problems: problems.map((problem) => ({ source, ...problem })),
    folder: file === null ? process.cwd() : dirname(file),
  };
}

const SECRET_FILE_BYTES_MAX = 64 * 1024;

function fromEnvironment(name: string, environment: Environment): string {
  const value = environment[name];
  if (value !== undefined && value !== '') return value;
  throw new SecretReferenceError(
    `"env:${name}" names an environment variable that is not set: set ${name}, or write the value here`,
  );
}

function fromFile(path: string, folder: string): string {
  const file = resolve(folder, path);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new SecretReferenceError(`"file:${path}" cannot be read: put the value into ${file}`);
  }
  if (text.length <= SECRET_FILE_BYTES_MAX && text.trim() !== '') return text.trim();
  throw new SecretReferenceError(`"file:${path}" is ${text.trim() === '' ? 'empty' : 'too large'}`);
}

/** Resolves `env:NAME` and `file:PATH` (relative to `folder`). @throws SecretReferenceError */
export function resolveReference(text: string, environment: Environment, folder: string): string {
  if (text.startsWith('env:')) return fromEnvironment(text.slice(4), environment);
  if (text.startsWith('file:')) return fromFile(text.slice(5), folder);
  return text;
}

/** `field` is the dotted name of the value. */
type Resolve = (value: unknown, field: string) => unknown;

type SecretRow = Pick<Option, 'rows' | 'secret'>;

function resolveValue({ rows, secret }: SecretRow, value: unknown, at: string, resolveOne: Resolve): unknown {
  if (rows !== undefined)
    return Array.isArray(value)
      ? value.map((item: unknown, index) => resolveRows(rows, item, `${at}[${index}].`, resolveOne))
      : resolveRows(rows, value, `${at}.`, resolveOne);
  if (!secret) return value;
  if (!isTable(value)) return resolveOne(value, at);
  const members = Object.entries(value).map(([name, one]) => [name, resolveOne(one, `${at}.${name}`)]);
  return Object.fromEntries(members);
}

/** Resolves references in secret options. @param prefix - dotted name of the table, with a dot at the end. */
function resolveRows(
  rows: Readonly<Record<string, SecretRow>>,
  table: unknown,
  prefix: string,
  resolveOne: Resolve,
): unknown {
  if (!isTable(table)) return table;
  const members = Object.entries(table).map(([name, value]) => {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    return [name, row === undefined ? value : resolveValue(row, value, prefix + name, resolveOne)];
  });
  return Object.fromEntries(members);
}

/** Merges the sources and resolves references. @throws ConfigurationError for an unreadable file or reference. */
export function readSources(args: ConfigurationArguments, environment: Environment): Sources {
  const { raw, file, sourceOf, folder, problems } = readUnresolvedSources(args, environment);
  const unresolved: Problem[] = [];
  const resolved = resolveRows(entries, raw, '', (value, field) => {
    if (typeof value !== 'string') return value;
    try {
      return resolveReference(value, environment, folder);
    } catch (error) {
      if (!(error instanceof SecretReferenceError)) throw error;
      unresolved.push({ ...sourceOf(field), message: error.message });
      return undefined;
    }
  }) as Table;
  if (unresolved.length > 0) throw new ConfigurationError([...problems, ...unresolved]);
  const sources = { file, sourceOf, problems };
  const { internal, ...others } = resolved;
  const areLimitsAllowed = environment[INTERNAL_LIMITS_VARIABLE] === 'allow';
  if (areLimitsAllowed && isTable(internal)) return { raw: others, internal, ...sources };
  return { raw: resolved, internal: {}, ...sources };
}
