import { userInfo } from 'node:os';
import { type Terminal, UsageError } from './command.ts';

/** User of this machine, for the audit log. */
export function getAuditActor(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Where tokens that are good for a command are made. */
export type TokenKind = keyof typeof tokenSources;

const tokenSources = {
  operator: `an operator's, made in the dashboard under Settings, "Operator's tokens"`,
  anybody: `one of the control API, made in the dashboard under Settings`,
} as const;

const PRINTABLE = /^[\x21-\x7e]+$/;

/** Reads the token for a remote service. @throws UsageError */
export function readApiToken(environment: Terminal['environment'], kind: TokenKind): string {
  const token = environment.SOLWAY_TOKEN?.trim() ?? '';
  if (token === '')
    throw new UsageError(`a running service needs a token: put ${tokenSources[kind]}, into SOLWAY_TOKEN`);
  if (!PRINTABLE.test(token))
    throw new UsageError(
      'SOLWAY_TOKEN holds characters that no token has: copy the token whole, and nothing else',
    );
  return token;
}
