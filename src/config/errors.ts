import type { z } from 'zod';
import { redact } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';

const DISPLAY_LENGTH_MAX = 60;

/** Scheme and host of a URL; the rest becomes `[redacted]`, because a provider's key can be in any part of it. */
export function showUrl(text: string): string {
  const match = /^([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^/?#]*@)?([^/?#]*)(.*)$/is.exec(text);
  if (match === null) return '[redacted]';
  // If the password contains an unescaped "/", "?" or "#", the text before that character looks like the host.
  if (match[3]?.includes('@')) return `${match[1]}[redacted]`;
  const rest = match[3] === '' || match[3] === '/' ? match[3] : '/[redacted]';
  return `${match[1]}${match[2]}${rest}`.slice(0, 200);
}

/** Formats a value for an error message: shortened, text in quotes, without secrets. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.includes('://') ? showUrl(value) : redact(value);
    return JSON.stringify(text.length > DISPLAY_LENGTH_MAX ? `${text.slice(0, DISPLAY_LENGTH_MAX)}…` : text);
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'a table';
}

/** Separates the messages of an `unrecognized_keys` issue, one per name. */
export const UNKNOWN_NAMES_SEPARATOR = '\n';

export type Problem = Readonly<{
  /** Where the value comes from: the file name, or a name such as `SOLWAY_PORT` or `--upstream`. */
  source: string;
  /** Dotted option name; empty if the source is not a file or the problem concerns the whole file. */
  field: string;
  message: string;
}>;

/** Example: `solway.toml: server.port: 99999 is not a whole number from 0 to 65535`. */
export function describeProblem({ source, field, message }: Problem): string {
  return [source, field, message].filter((part) => part !== '').join(': ');
}

/** Invalid configuration. Lists all problems found, without secrets. */
export class ConfigurationError extends OperatorError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** Formats `["upstream", 1, "url"]` as `upstream[1].url`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

/** Finds the source of an option by its dotted name. */
export type SourceOf = (field: string) => Pick<Problem, 'source' | 'field'>;

function problemsOf(issue: z.core.$ZodIssue, sourceOf: SourceOf): Problem[] {
  if (issue.code !== 'unrecognized_keys')
    return [{ ...sourceOf(fieldName(issue.path)), message: issue.message }];
  const messages = issue.message.split(UNKNOWN_NAMES_SEPARATOR);
  return issue.keys.map((name, index) => ({
    ...sourceOf(fieldName([...issue.path, name])),
    message: messages[index] ?? 'there is no such option',
  }));
}

export function problemsFrom(error: z.ZodError, sourceOf: SourceOf): Problem[] {
  return error.issues.flatMap((issue) => problemsOf(issue, sourceOf));
}

/** Invalid command line; the message says how to correct it. */
export class ArgumentsError extends Error {
  override name = 'ArgumentsError';
}

/** A secret reference that cannot be resolved. The message names the reference, never a value. */
export class SecretReferenceError extends OperatorError {
  override name = 'SecretReferenceError';
}
