import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';

/** Server-side secrets that key digests are made under. Several are accepted while one replaces another. */
export type Peppers = Readonly<{
  /** The version new keys are digested under: the greatest. */
  current: number;
  secrets: ReadonlyMap<number, Buffer>;
}>;

/** The pepper is absent where it was asked for, ill-formed, or not the one the store's keys were made with. */
export class PepperError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PepperError';
  }
}

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
    throw new PepperError(
      `${from}: a pepper is ${TEXT_MIN} to ${TEXT_MAX} characters without spaces, ` +
        'written "secret" or "version:secret"; make one with: openssl rand -hex 32',
    );
  }
  return [version, Buffer.from(text, 'utf8')];
}

/**
 * Reads peppers from text: entries `version:secret`, separated by commas or line breaks; a bare secret is
 * version 1. The bytes of the secret's text are the pepper.
 * @param from - where the text stands, named in errors.
 * @throws PepperError
 */
export function parsePeppers(text: string, from: string): Peppers {
  const entries = text.split(/[,\r\n]+/).filter((entry) => entry !== '' && !entry.startsWith('#'));
  if (entries.length === 0) throw new PepperError(`${from} is empty: put a pepper there or take it away`);
  if (entries.length > VERSIONS_MAX) throw new PepperError(`${from} has more than ${VERSIONS_MAX} peppers`);
  const secrets = new Map(entries.map((entry) => parseEntry(entry, from)));
  if (secrets.size < entries.length) throw new PepperError(`${from} has two peppers of one version`);
  return { current: Math.max(...secrets.keys()), secrets };
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new PepperError(`the pepper file ${file} cannot be read: let this user read it`, { cause: error });
  }
}

function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a folder survive the machine's death, not only what is in the files. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Puts a whole file at `file`, or leaves what another process put there first. */
function createOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeWhole(draft, text);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  syncFolder(dirname(file));
}

export type PepperSources = Readonly<{
  /** Value of SOLWAY_PEPPER. */
  text?: string | undefined;
  /** Value of SOLWAY_PEPPER_FILE. */
  file?: string | undefined;
  /** Where a pepper is kept when neither is given. */
  dataDir: string;
}>;

/** The pepper file of a data folder. */
export const pepperFile = (dataDir: string): string => join(dataDir, 'pepper');

/** The peppers that are given or kept; null when there are none yet. @throws PepperError */
export function findPeppers(sources: PepperSources): Peppers | null {
  if (sources.text !== undefined) return parsePeppers(sources.text, 'SOLWAY_PEPPER');
  const file = sources.file ?? pepperFile(sources.dataDir);
  const text = readIfPresent(file);
  if (text !== null) return parsePeppers(text, file);
  if (sources.file === undefined) return null;
  throw new PepperError(`SOLWAY_PEPPER_FILE names ${file}, which does not exist`);
}

/** Makes a pepper in the data folder, readable by its owner only. Of two processes at once, one wins. */
export function createPepper(dataDir: string): Peppers {
  const file = pepperFile(dataDir);
  makeFolder(dataDir, 0o700);
  createOnce(file, `1:${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  return parsePeppers(readFileSync(file, 'utf8'), file);
}
