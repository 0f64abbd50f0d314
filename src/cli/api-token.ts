import { userInfo } from 'node:os';
import { ArgumentsError } from '../config/errors.ts';
import type { Terminal } from './command.ts';

/** Name of the operating system user, or else the uid, for the audit log. */
export function getAuditActor(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

type TokenKind = keyof typeof tokenSources;

const tokenSources = {
  operator: `an operator's token: create one in the dashboard under Settings, "Operator tokens"`,
  any: `a token of the control API: create one in the dashboard under Settings`,
} as const;

const PRINTABLE = /^[\x21-\x7e]+$/;

/** Reads the token for a remote service from SOLWAY_TOKEN. @throws ArgumentsError */
export function readApiToken(environment: Terminal['environment'], kind: TokenKind): string {
  const token = environment.SOLWAY_TOKEN?.trim() ?? '';
  if (token === '') throw new ArgumentsError(`SOLWAY_TOKEN is not set. Set it to ${tokenSources[kind]}`);
  if (!PRINTABLE.test(token))
    throw new ArgumentsError(
      'SOLWAY_TOKEN contains characters that tokens do not have. Copy the whole token and nothing else',
    );
  return token;
}
