import { type Terminal, UsageError } from './command.ts';

/** The token that a service on another machine is asked with. @throws UsageError */
export function tokenIn(environment: Terminal['environment']): string {
  const token = environment.SOLWAY_TOKEN;
  if (token !== undefined && token !== '') return token;
  throw new UsageError('a running service needs a token: put one of the control API into SOLWAY_TOKEN');
}
