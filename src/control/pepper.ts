import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';
import { OperatorError } from '../base/operator-error.ts';

/** Server-side secrets by version. During a rotation, several versions are accepted. */
export type Peppers = Readonly<{
  /** The highest version, used for new keys, tokens and sealed values. */
  current: number;
  secrets: ReadonlyMap<number, Buffer>;
}>;

const SECRET_BYTES = 32;
const TEXT_MIN = 32;
const TEXT_MAX = 1_024;
const VERSIONS_MAX = 16;
const ENTRY = /^(\d{1,6}):(\S+)$/;

function parseEntry(entry: string, from: string): [number, Buffer] {
  const match = ENTRY.exec(entry);
  const version = match ? Number(match[1]) : 1;
  const text = match?.[2] ?? entry;
  if (text.length < TEXT_MIN || text.length > TEXT_MAX || /\s/.test(text) || version < 1) {
    throw new OperatorError(
      `${from}: a pepper has ${TEXT_MIN} to ${TEXT_MAX} characters without spaces, ` +
        'written as "secret" or "version:secret". Generate one with: openssl rand -hex 32',
    );
  }
  return [version, Buffer.from(text, 'utf8')];
}

/** Parses `version:secret` entries, separated by commas or line breaks; a bare secret is version 1. */
export function parsePeppers(text: string, from: string): Peppers {
  const entries = text.split(/[,\r\n]+/).filter((entry) => entry !== '' && !entry.startsWith('#'));
  if (entries.length === 0) throw new OperatorError(`${from} is empty. Put a pepper there or remove it.`);
  if (entries.length > VERSIONS_MAX) throw new OperatorError(`${from} has more than ${VERSIONS_MAX} peppers`);
  const secrets = new Map(entries.map((entry) => parseEntry(entry, from)));
  if (secrets.size < entries.length) throw new OperatorError(`${from} has two peppers with the same version`);
  return { current: Math.max(...secrets.keys()), secrets };
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new OperatorError(`The pepper file ${file} cannot be read. Make it readable for this user.`, {
      cause: error,
    });
  }
}

/** Flushes a file's content or a folder's entries to disk. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Atomically creates a file with its full content, unless another process has created it first. */
function createOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
  sync(draft);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  sync(dirname(file));
}

export type PepperSources = Readonly<{
  /** Value of SOLWAY_PEPPER. */
  text?: string | undefined;
  /** Value of SOLWAY_PEPPER_FILE. */
  file?: string | undefined;
  /** Folder of the pepper file if neither variable is set. */
  dataDir: string;
}>;

export const pepperFile = (dataDir: string): string => join(dataDir, 'pepper');

/** Returns null if no pepper exists yet. @throws OperatorError */
export function findPeppers(sources: PepperSources): Peppers | null {
  if (sources.text !== undefined) return parsePeppers(sources.text, 'SOLWAY_PEPPER');
  const file = sources.file ?? pepperFile(sources.dataDir);
  const text = readIfPresent(file);
  if (text !== null) return parsePeppers(text, file);
  if (sources.file === undefined) return null;
  throw new OperatorError(`SOLWAY_PEPPER_FILE names ${file}, which does not exist`);
}

/** Creates a pepper file that only its owner can read. Concurrent processes all use the pepper created first. */
export function createPepper(dataDir: string): Peppers {
  const file = pepperFile(dataDir);
  makeFolder(dataDir, 0o700);
  createOnce(file, `1:${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  return parsePeppers(readFileSync(file, 'utf8'), file);
}
