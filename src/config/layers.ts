import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { ConfigurationArguments } from './arguments.ts';
import { ConfigurationError, type Problem, type SourceOf } from './errors.ts';
import { isTable, resolveReferences, type Table } from './secret-references.ts';
import { type Environment, resolveReference, SecretReferenceError } from './secrets.ts';

const FILE_BYTES_MAX = 1024 * 1024;
const DEFAULT_FILE = 'solway.toml';

/** The values as they were written, from all sources, and which source gave each. */
export type Layers = Readonly<{ raw: Table; file: string | null; sourceOf: SourceOf }>;

/** Environment variable → the field it sets. */
export const environmentFields = {
  SOLWAY_DATA_DIR: 'data_dir',
  SOLWAY_DEV: 'dev',
  SOLWAY_HOST: 'server.host',
  SOLWAY_PORT: 'server.port',
  SOLWAY_GRPC_PORT: 'grpc.port',
  SOLWAY_NETWORK: 'networks.default',
  SOLWAY_LOG_LEVEL: 'log.level',
  SOLWAY_LOG_FILE: 'log.file',
  DATABASE_URL: 'store.database_url',
  REDIS_URL: 'shared.redis_url',
} as const;

function fail(source: string, message: string): never {
  throw new ConfigurationError([{ source, field: '', message }]);
}

function readToml(file: string, displayName: string): Table {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    fail(displayName, missing ? 'the file does not exist' : 'the file cannot be read: let this user read it');
  }
  if (text.length > FILE_BYTES_MAX) fail(displayName, 'the file is larger than 1 MiB');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the message quotes the file, which may hold secrets.
    const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
    fail(displayName, `line ${error.line}, column ${error.column} is not TOML: ${reason}`);
  }
}

/** --config, else SOLWAY_CONFIG, else solway.toml where the program was started, else nothing; as it was written. */
function chooseFile(given: ConfigurationArguments, environment: Environment): string | null {
  const named = given.config ?? (environment.SOLWAY_CONFIG || undefined);
  if (named !== undefined) return named;
  return existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null;
}

/** Values are text outside of files; what does not fit its field stays text, for the schema to refuse. */
function scalar(field: string, text: string): string | number | boolean {
  if (field === 'dev' && /^(true|false|1|0)$/.test(text)) return text === 'true' || text === '1';
  return /\.(port|workers)$/.test(field) && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

type Sources = Map<string, string>;

function put(raw: Table, field: string, value: unknown, sources: Sources, source: string): void {
  const path = field.split('.');
  const last = path.pop()!;
  let table = raw;
  for (const name of path) {
    // What is no table here is a mistake of the file; the schema will say so.
    if (!isTable(table[name] ?? {})) return;
    table[name] = { ...(table[name] as Table | undefined) };
    table = table[name] as Table;
  }
  table[last] = value;
  sources.set(field, source);
}

function putEnvironment(raw: Table, environment: Environment, sources: Sources): void {
  for (const [variable, field] of Object.entries(environmentFields)) {
    const value = environment[variable];
    if (value) put(raw, field, scalar(field, value), sources, variable);
  }
}

function putArguments(raw: Table, given: ConfigurationArguments, sources: Sources): void {
  const fields = {
    'server.host': ['--host', given.host],
    'server.port': ['--port', given.port],
    'server.workers': ['--workers', given.workers],
    'grpc.port': ['--grpc-port', given.grpcPort],
    data_dir: ['--data-dir', given.dataDir],
    'log.level': ['--log-level', given.logLevel],
  } as const;
  for (const [field, [option, value]] of Object.entries(fields)) {
    if (value !== undefined) put(raw, field, scalar(field, value), sources, option);
  }
  if (given.dev) put(raw, 'dev', true, sources, '--dev');
  if (given.upstreams.length === 0) return;
  put(raw, 'upstream', given.upstreams, sources, '--upstream');
  given.upstreams.forEach((node, index) => {
    const nth = given.upstreams.length > 1 ? ` (${index + 1})` : '';
    for (const name of Object.keys(node)) {
      sources.set(`upstream[${index}].${name}`, `--${name === 'url' ? 'upstream' : name}${nth}`);
    }
  });
}

function sourceFinder(sources: Sources, fallback: string): SourceOf {
  return (field) => {
    const source = sources.get(field);
    // Who wrote an option or a variable knows it by that name only.
    return source === undefined ? { source: fallback, field } : { source, field: '' };
  };
}

/** The layers before references are resolved, and the folder that references to files start from. */
type WrittenLayers = Layers & Readonly<{ folder: string }>;

/** Reads the file, lays the environment over it and the command line over both. @throws ConfigurationError */
export function readWrittenLayers(given: ConfigurationArguments, environment: Environment): WrittenLayers {
  const displayName = chooseFile(given, environment);
  const file = displayName === null ? null : resolve(displayName);
  const raw: Table = file === null || displayName === null ? {} : readToml(file, displayName);
  const sources: Sources = new Map();
  putEnvironment(raw, environment, sources);
  putArguments(raw, given, sources);
  const sourceOf = sourceFinder(sources, displayName ?? 'configuration');
  return { raw, file, sourceOf, folder: file === null ? process.cwd() : dirname(file) };
}

/**
 * Reads all layers and resolves references.
 * @throws ConfigurationError
 */
export function readLayers(given: ConfigurationArguments, environment: Environment): Layers {
  const { raw, file, sourceOf, folder } = readWrittenLayers(given, environment);
  const problems: Problem[] = [];
  const resolved = resolveReferences(raw, (value, field) => {
    if (typeof value !== 'string') return value;
    try {
      return resolveReference(value, environment, folder);
    } catch (error) {
      if (!(error instanceof SecretReferenceError)) throw error;
      problems.push({ ...sourceOf(field), message: error.message });
      return undefined;
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { raw: resolved, file, sourceOf };
}
