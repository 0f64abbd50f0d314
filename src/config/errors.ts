import type { z } from 'zod';
import { UNKNOWN_FIELDS_SEPARATOR } from './field-types.ts';

/** One thing to mend: where it stands, and what is wrong and what to do. */
export type Problem = Readonly<{
  /** `/etc/solway.toml` as it was named, `SOLWAY_PORT`, `--upstream`. */
  source: string;
  /** Dotted path of the field; empty when the source is not a file or the whole file is meant. */
  field: string;
  message: string;
}>;

/** A line for people: `solway.toml: server.port: 99999 is not a whole number from 0 to 65535`. */
export function describeProblem({ source, field, message }: Problem): string {
  return [source, field, message].filter((part) => part !== '').join(': ');
}

/** The configuration cannot be used. Lists all that is wrong with it; holds no secret. */
export class ConfigurationError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** `["upstream", 1, "url"]` as `upstream[1].url`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

/** Says which source gave the field of a dotted path. */
export type SourceOf = (field: string) => Pick<Problem, 'source' | 'field'>;

function problemsOf(issue: z.core.$ZodIssue, sourceOf: SourceOf): Problem[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ ...sourceOf(fieldName(issue.path)), message: issue.message }];
  }
  const messages = issue.message.split(UNKNOWN_FIELDS_SEPARATOR);
  return issue.keys.map((name, index) => ({
    ...sourceOf(fieldName([...issue.path, name])),
    message: messages[index] ?? 'there is no such field',
  }));
}

/** The schema's findings in our words. */
export function problemsFrom(error: z.ZodError, sourceOf: SourceOf): Problem[] {
  return error.issues.flatMap((issue) => problemsOf(issue, sourceOf));
}
