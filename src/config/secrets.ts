import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { redact } from '../base/log.ts';

const DISPLAY_LENGTH_MAX = 60;
const SECRET_FILE_BYTES_MAX = 64 * 1024;

/**
 * A URL fit to be shown: scheme and host. Providers put keys in the path, the query and the user part alike, so
 * whatever else there is becomes `[redacted]`.
 */
export function showUrl(text: string): string {
  const match = /^([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^/?#]*@)?([^/?#]*)(.*)$/is.exec(text);
  if (match === null) return '[redacted]';
  // Of a password that is not escaped the first part stands where the host should.
  if (match[3]?.includes('@')) return `${match[1]}[redacted]`;
  const rest = match[3] === '' || match[3] === '/' ? match[3] : '/[redacted]';
  return `${match[1]}${match[2]}${rest}`.slice(0, 200);
}

/** A configuration value fit for an error text: short, in quotes when it is text, without secrets. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.includes('://') ? showUrl(value) : redact(value);
    return JSON.stringify(text.length > DISPLAY_LENGTH_MAX ? `${text.slice(0, DISPLAY_LENGTH_MAX)}…` : text);
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'a table';
}

/** The variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference that leads nowhere; the message names the reference, never a value. */
export class SecretReferenceError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SecretReferenceError';
  }
}

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

/**
 * A value that may stand elsewhere: `env:NAME`, `file:PATH` (relative to `folder`), anything else is itself.
 * @throws SecretReferenceError
 */
export function resolveReference(text: string, environment: Environment, folder: string): string {
  if (text.startsWith('env:')) return fromEnvironment(text.slice(4), environment);
  // file:///path is a URL that nobody means here; file:/path and file:path are references.
  if (text.startsWith('file:')) return fromFile(text.slice(5), folder);
  return text;
}
